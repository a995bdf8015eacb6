import type { Feature, Services } from '../feature.ts';
import { brandingRoutes } from './routes.ts';

export { fields as brandingFields } from './fields.ts';
export { changeBranding, shownBranding, updateBody as updateBrandingBody } from './routes.ts';
export { findBranding } from './store.ts';

/** Branding: the name, logos and color that the application shows. */
export const createBranding = ({ db }: Services): Feature => ({
  tag: { name: 'Branding', description: 'The name, logos and color that the application shows.' },
  routes: brandingRoutes(db),
});
