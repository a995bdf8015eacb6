import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { alertsSearch } from './search.ts';

export const alertsPages = [
  page({
    path: '/alerts',
    search: alertsSearch,
    operation: 'listAlerts',
    component: [() => import('./AlertsPage.tsx'), 'AlertsPage'],
  }),
  page({
    path: '/alerts/$alertId',
    search: noSearch,
    operation: 'getAlert',
    first: ({ params: { alertId } }) => [readOf('getAlert', { alert_id: alertId })],
    component: [() => import('./AlertPage.tsx'), 'AlertPage'],
  }),
  page({
    path: '/alert-rules/new',
    search: noSearch,
    operation: 'createAlertRule',
    component: [() => import('./NewAlertRulePage.tsx'), 'NewAlertRulePage'],
  }),
  page({
    path: '/alert-rules/$alertRuleId',
    search: noSearch,
    operation: 'getNamedAlertRule',
    first: ({ params: { alertRuleId } }) => [readOf('getNamedAlertRule', { alert_rule_id: alertRuleId })],
    component: [() => import('./AlertRulePage.tsx'), 'AlertRulePage'],
  }),
] as const;
