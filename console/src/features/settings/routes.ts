import { readEarly } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { settingsSearch } from './search.ts';

export const settingsPages = [
  page({
    path: '/settings',
    search: settingsSearch,
    operation: 'getAdvancedSettings',
    first: () => {
      readEarly('getAdvancedSettingsSchema', {});
      readEarly('getAdvancedSettings', {});
    },
    component: [() => import('./SettingsPage.tsx'), 'SettingsPage'],
  }),
] as const;
