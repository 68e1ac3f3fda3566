// Stands in for React Native in tests: primitives render as elements of the same name, and what an
// app does to the platform is remembered.
import { createElement } from "react";

const primitive = (name) => ({ children, ...props }) => createElement(name, props, children);
export const View = primitive("View");
export const Text = primitive("Text");
export const Pressable = primitive("Pressable");
export const Button = primitive("Button");

export const opened = [];
export const Linking = {
  openURL: async (url) => {
    if (url.includes("broken")) throw new Error("no app opens this");
    opened.push(url);
  },
};
export const Platform = { OS: "ios" };

const listeners = new Set();
export const AppState = {
  addEventListener: (_, listener) => {
    listeners.add(listener);
    return { remove: () => listeners.delete(listener) };
  },
};
export const changeAppState = (state) => listeners.forEach((listener) => listener(state));
export const appStateListeners = listeners;
