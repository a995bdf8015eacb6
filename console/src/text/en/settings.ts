import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const settings = catalog({
  lead: 'What holds for the whole platform. A change is in effect on every replica within seconds, and is in the audit log.',
  branding: 'Branding',
  changed: 'Changed only',
  what: 'settings',
  groups: {
    schedules: 'Schedules',
    triggers: 'Triggers',
    workItems: 'Work Items',
    requests: 'Requests',
    telemetry: 'Telemetry',
    people: 'People and keys',
    audit: 'Audit log',
    other: 'Other',
  },
  bounds: (minimum: number | undefined, maximum: number | undefined) =>
    [
      minimum === undefined ? '' : `from ${number(minimum)}`,
      maximum === undefined ? '' : `to ${number(maximum)}`,
    ]
      .filter(Boolean)
      .join(' '),
  defaultIs: (value: string) => `default ${value}`,
  changedTag: 'changed',
  reset: 'Reset',
  resetOf: (name: string) => `Reset ${name}`,
  pending: (count: number) => plural(count, { one: 'One setting changes', other: '# settings change' }),
  change: (name: string, from: string, to: string) => `${name}: ${from} → ${to}`,
  saved: 'Settings saved',
});
