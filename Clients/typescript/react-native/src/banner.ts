import { createElement } from "react";
import type { ReactElement } from "react";
import { Pressable, Text, View } from "react-native";
import type { Theme } from "./theme.js";

export interface BannerContent {
  title: string;
  message: string;
  /** The button's; without it there is no button. */
  label?: string | null;
}

export interface BannerProps extends BannerContent {
  theme: Theme;
  onPress: () => void;
  testID: string;
}

/** A banner that screen readers announce once it appears. */
export function Banner({ title, message, label, theme, onPress, testID }: BannerProps): ReactElement {
  const { background, text, accent, onAccent, radius, padding } = theme;
  return createElement(
    View,
    { testID, style: { backgroundColor: background, borderRadius: radius, padding, gap: padding / 2 } },
    createElement(
      View,
      {
        accessible: true, accessibilityRole: "alert", accessibilityLiveRegion: "polite",
        accessibilityLabel: `${title}. ${message}`,
      },
      createElement(Text, { style: { color: text, fontWeight: "600", fontSize: 16 } }, title),
      createElement(Text, { style: { color: text, fontSize: 14 } }, message),
    ),
    label
      ? createElement(
        Pressable,
        {
          onPress, accessibilityRole: "button", accessibilityLabel: label, hitSlop: 4,
          // The least size of a target that both platforms ask for.
          style: {
            backgroundColor: accent, borderRadius: radius / 2, minHeight: 48,
            paddingHorizontal: padding, alignItems: "center", justifyContent: "center",
          },
        },
        createElement(Text, { style: { color: onAccent, fontWeight: "600", fontSize: 16 } }, label),
      )
      : null,
  );
}
