import type { ChangedCallback, PublicAgent, PublicCallback } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import type { SecretEntry } from '../../ui/index.ts';

export type CallbackEvent = PublicCallback['events'][number];

/** A callback in the form. `secret` and `headers` are null while the stored ones stay. */
export interface CallbackValues {
  id: string | null;
  url: string;
  events: CallbackEvent[];
  headers: SecretEntry[] | null;
  header_names: string[];
  secret: string | null;
}

export const mostCallbacks = 5;

export const noCallback: CallbackValues = {
  id: null,
  url: '',
  events: [
    'work_item.needs_review',
    'work_item.indeterminate',
    'work_item.completed',
    'work_item.error',
    'work_item.cancelled',
  ],
  headers: [],
  header_names: [],
  secret: '',
};

export const toCallbackValues = ({ callbacks }: PublicAgent): { callbacks: CallbackValues[] } => ({
  callbacks: callbacks.map(({ id, url, events, header_names }) => ({
    id,
    url,
    events,
    header_names,
    headers: header_names.length > 0 ? null : [],
    secret: null,
  })),
});

const toChanged = ({ id, url, events, headers, secret }: CallbackValues): ChangedCallback => ({
  ...(id !== null && { id }),
  url: url.trim(),
  events,
  ...(headers !== null && {
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value ?? ''])),
  }),
  // Without one the stored secret stays, or one is generated.
  ...(secret && { secret }),
});

export const toCallbacksBody = ({ callbacks }: { callbacks: readonly CallbackValues[] }) => ({
  callbacks: callbacks.map(toChanged),
});

/** The callbacks of a copy: all that is no secret. */
export const copiedCallbacks = ({ callbacks }: PublicAgent): { url: string; events: CallbackEvent[] }[] =>
  callbacks.map(({ url, events }) => ({ url, events }));

/** The parts that a copy leaves out, as sentences. */
export const leftOut = ({ callbacks }: PublicAgent): string[] =>
  callbacks.map(({ url, header_names }) => words.leftOutCallback(url, header_names));
