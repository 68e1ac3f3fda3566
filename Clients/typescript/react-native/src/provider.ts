import { TideoverProvider as Provider } from "@tideover/react";
import type { TideoverProviderProps } from "@tideover/react";
import { createElement } from "react";
import type { ReactElement } from "react";
import { AppState } from "react-native";

/** The provider of @tideover/react, refreshed whenever the app comes to the foreground. */
export function TideoverProvider(props: Omit<TideoverProviderProps, "appState">): ReactElement {
  return createElement(Provider, { ...props, appState: AppState });
}
