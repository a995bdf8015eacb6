import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { settingsSearch } from './search.ts';

export const settingsPages = [
  page({
    path: '/settings',
    search: settingsSearch,
    operation: 'getAdvancedSettings',
    first: () => [readOf('getAdvancedSettingsSchema', {}), readOf('getAdvancedSettings', {})],
    component: [() => import('./SettingsPage.tsx'), 'SettingsPage'],
  }),
] as const;
