import type { Branding as BrandingBody } from '../../api/types.gen.ts';
import { branding as words } from '../../text/en/branding.ts';
import type { Difference } from '../../ui/index.ts';

export type Branding = BrandingBody;
export const brandingPath = '/api/v2/branding';

/** What the form edits. */
export type Values = Pick<
  Branding,
  'workspace_name' | 'primary_color' | 'logo_data_url' | 'logo_dark_data_url'
>;

export const empty: Values = {
  workspace_name: '',
  primary_color: '',
  logo_data_url: '',
  logo_dark_data_url: '',
};

/** Returns what the form edits of a branding. */
export const toValues = ({
  workspace_name,
  primary_color,
  logo_data_url,
  logo_dark_data_url,
}: Branding): Values => ({
  workspace_name,
  primary_color,
  logo_data_url,
  logo_dark_data_url,
});

const image = (address: string): string =>
  address === '' ? words.noLogo : `${words.hasLogo}, ${address.length}`;

/** Returns both versions of each field. A logo is too long to be read: its size tells them apart. */
export const differences = (theirs: Values, mine: Values): Difference[] => [
  { label: words.name, theirs: theirs.workspace_name, mine: mine.workspace_name },
  { label: words.color, theirs: theirs.primary_color, mine: mine.primary_color },
  { label: words.logo, theirs: image(theirs.logo_data_url), mine: image(mine.logo_data_url) },
  { label: words.logoDark, theirs: image(theirs.logo_dark_data_url), mine: image(mine.logo_dark_data_url) },
];
