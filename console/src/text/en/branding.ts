import { catalog } from '../catalog.ts';

/** Words of the page Branding. */
export const branding = catalog({
  lead: 'The name, the logos and the color that everyone sees here and on the sign-in page.',
  name: 'Workspace name',
  nameHint: 'At most 40 characters. Empty: Agent Platform.',
  color: 'Color',
  colorHint:
    'Such as #1f6feb. It marks focus, the present place and a selection. Empty: the color of the platform.',
  pick: 'Pick',
  logo: 'Logo',
  logoDark: 'Logo for the dark theme',
  logoHint: 'A PNG, JPEG or WebP image, at most 256 KiB and 2,048 pixels a side.',
  logoDarkHint: 'Empty: the other logo is used on both.',
  choose: 'Choose an image',
  replace: 'Replace the image',
  noLogo: 'none',
  hasLogo: 'an image',
  preview: 'Preview',
  light: 'Light',
  dark: 'Dark',
  sampleLink: 'Schedules',
  sampleOther: 'Work Items',
  sampleButton: 'A button',
  sampleSelected: 'A selected row',
  contrast: (ratio: string) => `Contrast ${ratio} to 1.`,
  contrastChanged: (ratio: string, used: string) =>
    `Contrast ${ratio} to 1, and text needs 4.5: ${used} is used here instead.`,
  notColor: 'This is not a color yet.',
  reset: 'Clear branding',
  resetQuestion: 'The name, both logos and the color go, and the platform has its own again.',
  resetDone: 'Branding cleared',
  saved: 'Branding saved',
  changedAt: 'Last changed {at}.',
  tooLarge: 'The image has more than 256 KiB. Choose a smaller one.',
});
