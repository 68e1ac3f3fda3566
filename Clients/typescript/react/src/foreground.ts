/** React Native's `AppState`, or one like it. */
export interface AppStateLike {
  addEventListener(type: "change", listener: (state: string) => void): { remove(): void };
}

interface EventSource {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

/** Calls `listener` whenever the app or the page comes to the front or online, until cancelled. */
export function onForeground(listener: () => void, appState?: AppStateLike): () => void {
  if (appState) {
    const subscription = appState.addEventListener("change", (state) => {
      if (state === "active") listener();
    });
    return () => subscription.remove();
  }
  const page = globalThis as EventSource & { document?: { visibilityState?: string } };
  // React Native has no such events, and no document.
  if (!("document" in globalThis)) return () => {};
  // A window that was never left gets no focus when its device wakes up.
  const events = ["focus", "online", "pageshow", "visibilitychange"];
  const shown = () => {
    if (page.document?.visibilityState !== "hidden") listener();
  };
  for (const event of events) page.addEventListener?.(event, shown);
  return () => events.forEach((event) => page.removeEventListener?.(event, shown));
}
