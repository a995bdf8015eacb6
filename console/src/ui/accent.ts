/** The red, green and blue of `#rrggbb`, 0 to 255. */
type Rgb = [number, number, number];

/** Reads `#rrggbb`; null if it is something else. */
export const readColor = (hex: string): Rgb | null => {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex);
  return match ? (match.slice(1).map((part) => Number.parseInt(part, 16)) as Rgb) : null;
};

const luminance = (color: Rgb): number => {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** The contrast of two colors, 1 to 21 (WCAG 2). */
export const contrast = (one: Rgb, other: Rgb): number => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const mix = (color: Rgb, target: Rgb, share: number): Rgb =>
  color.map((part, index) => Math.round(part + (target[index]! - part) * share)) as Rgb;

const toHex = (color: Rgb): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Background of a color in each scheme: the page and surface of tokens.css. */
const grounds: Record<'light' | 'dark', Rgb> = { light: [0xf1, 0xf3, 0xf6], dark: [0x1a, 0x20, 0x29] };
const least = 4.5;

/**
 * Returns the accent that a color gives in a scheme: the color, made darker or lighter until text in it has a contrast of
 * 4.5.
 */
export const accentOf = (
  hex: string,
  scheme: 'light' | 'dark',
): { color: string; changed: boolean; contrast: number } | null => {
  const color = readColor(hex);
  if (!color) return null;
  const target: Rgb = scheme === 'light' ? [0, 0, 0] : [255, 255, 255];
  const ground = grounds[scheme];
  for (let share = 0; share <= 1; share += 0.02) {
    const next = mix(color, target, share);
    if (contrast(next, ground) >= least) {
      return { color: toHex(next), changed: share > 0, contrast: contrast(color, ground) };
    }
  }
  return null;
};

/** Makes `hex` the accent of the page, or gives it its own again if `hex` is empty. */
export const applyAccent = (hex: string): void => {
  const { style, dataset } = document.documentElement;
  const scheme = dataset.mantineColorScheme === 'dark' ? 'dark' : 'light';
  const accent = accentOf(hex, scheme);
  if (accent) {
    style.setProperty('--accent', accent.color);
    style.setProperty(
      '--accent-soft',
      `color-mix(in srgb, ${accent.color} ${scheme === 'dark' ? 20 : 9}%, var(--surface))`,
    );
  } else {
    style.removeProperty('--accent');
    style.removeProperty('--accent-soft');
  }
};
