// The part of React Native's API that @tideover/react-native and the guides use, so that they
// compile without it. Source: https://reactnative.dev/docs/components-and-apis (0.72 and later)

declare module "react-native" {
  import type { ComponentType, ReactNode } from "react";

  type Style = Readonly<Record<string, unknown>>;
  type StyleProp = Style | undefined | null | false | readonly StyleProp[];

  interface AccessibilityProps {
    accessible?: boolean;
    accessibilityRole?: "alert" | "button" | "text" | "header";
    accessibilityLabel?: string;
    accessibilityHint?: string;
    accessibilityLiveRegion?: "none" | "polite" | "assertive";
  }

  interface ViewProps extends AccessibilityProps {
    style?: StyleProp;
    testID?: string;
    children?: ReactNode;
  }

  interface PressableProps extends ViewProps {
    onPress?: () => void;
    hitSlop?: number;
  }

  export const View: ComponentType<ViewProps>;
  export const Text: ComponentType<ViewProps>;
  export const Pressable: ComponentType<PressableProps>;
  export const AppState: {
    addEventListener(type: "change", listener: (state: string) => void): { remove(): void };
  };
  export const Linking: { openURL(url: string): Promise<unknown> };
  export const Platform: { OS: string };
  export const Button: ComponentType<{ title: string; onPress: () => void }>;
  export function useColorScheme(): "light" | "dark" | null | undefined;
}
