import type { TriggerValues } from './form.tsx';

/** An event to try expressions on: headers as lines, and a body as JSON. */
export interface Sample {
  headers: string;
  body: string;
}

const of = (body: unknown, headers = ''): Sample => ({ headers, body: JSON.stringify(body, null, 2) });

const ofSchemes: Partial<Record<TriggerValues['scheme'], Sample>> = {
  github: of(
    {
      action: 'opened',
      issue: { number: 42, title: 'It does not start' },
      repository: { full_name: 'example/shop' },
    },
    'X-GitHub-Event: issues',
  ),
  gitlab: of(
    {
      object_kind: 'issue',
      project: { path_with_namespace: 'example/shop' },
      object_attributes: { iid: 42, title: 'It does not start', action: 'open' },
    },
    'X-Gitlab-Event: Issue Hook',
  ),
  slack: of({
    type: 'event_callback',
    event_id: 'Ev0123',
    event: { type: 'app_mention', user: 'U0123', text: 'Is the shop open?', channel: 'C0123' },
  }),
  stripe: of({
    id: 'evt_0123',
    type: 'invoice.paid',
    data: { object: { id: 'in_0123', amount_paid: 4200, currency: 'eur' } },
  }),
};

const generic = of({ type: 'order.created', id: 42, title: 'Order 42', total: 99.5 });

const ofKinds: Partial<Record<TriggerValues['kind'], Sample>> = {
  work_item: of({
    id: '0199a2b4-0000-7000-8000-000000000042',
    agent: { id: '0199a2b4-0000-7000-8000-000000000001', name: 'Reporter' },
    name: 'Nightly report',
    status: 'COMPLETED',
    previous_status: 'EXECUTING',
    result: { total: 42 },
    error: null,
  }),
  absence: of({
    watched: { type: 'trigger', id: '0199a2b4-0000-7000-8000-000000000001', name: 'Orders' },
    window_seconds: 3600,
    last_seen_at: '2026-01-31T08:00:00Z',
    missing_since: '2026-01-31T09:00:00Z',
  }),
};

/** The sample that a form begins with. */
export const sampleOf = ({ kind, scheme }: TriggerValues): Sample =>
  (kind === 'webhook' ? ofSchemes[scheme] : ofKinds[kind]) ?? generic;

/** Tells if deliveries of this kind have headers. */
export const hasHeaders = ({ kind }: TriggerValues): boolean => kind !== 'work_item' && kind !== 'absence';

/** Reads lines of headers; null if a line is none. */
export const readHeaders = (lines: string): Record<string, string> | null => {
  const headers: Record<string, string> = {};
  for (const line of lines.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    headers[name] = value;
  }
  return headers;
};
