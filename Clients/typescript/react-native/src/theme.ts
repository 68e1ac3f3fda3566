/** Colours and sizes of the banners. */
export interface Theme {
  background: string;
  text: string;
  /** The button, and the text on it. */
  accent: string;
  onAccent: string;
  radius: number;
  padding: number;
}

// Each pair of text and ground has a contrast of at least 4.5 to 1.
export const light: Theme = {
  background: "#FFF6E0", text: "#33270A", accent: "#7A4B00", onAccent: "#FFFFFF", radius: 12, padding: 16,
};

export const dark: Theme = {
  background: "#33270A", text: "#FFF6E0", accent: "#FFD27A", onAccent: "#33270A", radius: 12, padding: 16,
};
