import type { Branding as BrandingBody } from '../../api/types.gen.ts';
import { branding as words } from '../../text/en/branding.ts';

export type Branding = BrandingBody;

/** Values of the form. */
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

/** A logo in words. It is too long to be read: its size tells two apart. */
export const image = (address: string): string =>
  address === '' ? words.noLogo : `${words.hasLogo}, ${address.length}`;

/** Labels by which two versions are compared. */
export const labels = {
  workspace_name: words.name,
  primary_color: words.color,
  logo_data_url: words.logo,
  logo_dark_data_url: words.logoDark,
};
