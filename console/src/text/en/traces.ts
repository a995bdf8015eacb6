import { catalog } from '../catalog.ts';
import { bytes, duration, list, number, plural, usd } from '../index.ts';

const spans = { one: '# span', other: '# spans' };

/** A change of a figure: `+1.2 s`, `−300 ms`, `0`. */
const change = (delta: number, shown: (value: number) => string): string =>
  delta === 0 ? '0' : `${delta > 0 ? '+' : '−'}${shown(Math.abs(delta))}`;

const micros = (value: number): string =>
  value > 0 && value < 950 ? `${number(Math.round(value))} µs` : duration(value / 1_000);

export const traces = catalog({
  lead: 'What agents did, call by call: of this platform, and of programs that send it traces.',
  what: 'traces',
  empty: 'There is no trace yet. Each run of an agent makes one.',
  off: 'The platform keeps no traces at present (TRACE_STORE is off).',
  search: 'Find in this page',

  // Filters.
  agent: 'Agent',
  status: 'Status',
  tool: 'Tool',
  error: 'Error',
  model: 'Model',
  service: 'Service',
  longest: 'Duration at least',
  dearest: 'Cost at least',
  statuses: { ok: 'OK', error: 'Error' },
  atLeast: (milliseconds: number) => duration(milliseconds),
  atLeastUsd: (nano: number) => usd(nano),
  order: 'Order',
  orders: { time: 'Newest first', duration: 'Longest first', cost: 'Dearest first' },
  ofWorkItem: 'Of one Work Item',
  ofConversation: 'Of one conversation',

  // Columns and figures.
  trace: 'Trace',
  began: 'Began',
  took: 'Duration',
  spans: 'Spans',
  tokens: 'Tokens',
  cost: 'Cost',
  noAgent: 'no agent',
  unnamed: 'unnamed',
  spanCount: (count: number) => plural(count, spans),
  micros,
  tokenCount: (count: number) => plural(count, { one: '# token', other: '# tokens' }),
  amount: (nano: number) => usd(nano),
  unknown: '',

  // Selection.
  compare: 'Compare',
  chooseTwo: 'Select two traces to compare them.',

  // A trace.
  okAfter: (time: string) => `OK after ${time}.`,
  failedAfter: (time: string) => `Failed after ${time}.`,
  facts: (parts: readonly string[]) => `${parts.join(', ')}.`,
  errorsAre: (errors: readonly string[]) => `Errors: ${list(errors)}.`,
  usedModels: (models: readonly string[]) => list(models),
  copyTraceId: 'Copy trace id',
  download: 'Download',
  openWorkItem: 'Open the Work Item',
  compareWith: 'Compare with…',
  compareTitle: 'Compare with another trace',
  otherTrace: 'Trace id',
  otherTraceHint: '32 hex digits, or choose one of the last traces of the same agent.',
  recent: 'Last traces of this agent',
  noRecent: 'There is no other trace of this agent.',
  waterfall: 'Waterfall',
  partial: (shown: number, all: number) => `The first ${number(shown)} of ${number(all)} spans are shown.`,
  missingParents: (count: number) =>
    plural(count, {
      one: '1 span is missing that others are part of: it was not sent, or not yet, or is not kept any more.',
      other:
        '# spans are missing that others are part of: they were not sent, or not yet, or are not kept any more.',
    }),

  // The waterfall.
  columns: { span: 'Span', time: 'Time', took: 'Duration', tokens: 'Tokens', cost: 'Cost' },
  find: 'Find a span',
  nextError: (count: number) => plural(count, { one: 'Go to the error', other: 'Next of # errors' }),
  foldAll: 'Fold all',
  unfoldAll: 'Unfold all',
  zoom: 'Zoom to the span',
  whole: 'Whole trace',
  noMatch: 'No span has that name, model or error.',
  failed: 'failed',
  cutOff: 'Its parent is missing.',
  below: (count: number) => number(count),
  hint: 'Arrow keys move and fold, Enter shows the span, Z zooms to it.',
  types: { agent: 'Agent', model: 'Model', tool: 'Tool', other: 'Other' },

  // A span.
  span: 'Span',
  spanTabs: 'Parts of the span',
  tabs: {
    overview: 'Overview',
    messages: 'Messages',
    attributes: 'Attributes',
    events: 'Events',
    raw: 'Raw',
  },
  noSpan: 'This span is not in the trace.',
  type: 'Type',
  kind: 'Kind',
  start: 'Start',
  after: (value: number) => (value === 0 ? '' : `after ${micros(value)}`),
  own: 'Own time',
  ownHint: 'without what it waited for below it',
  errorType: 'Error',
  message: 'Message',
  serviceName: 'Service',
  scope: 'Scope',
  spanId: 'Span id',
  parent: 'Part of',
  links: 'Links',
  linkTo: (trace: string) => `trace ${trace.slice(0, 8)}`,
  step: 'Step',
  openMessage: 'Open its message',
  noMessages: 'The span has no messages. Traces have content only if CAPTURE_MESSAGE_CONTENT is on.',
  stored: 'The message that this step stored:',
  messageGone: 'The message is further back in the conversation.',
  roles: { system: 'Instructions', user: 'User', assistant: 'Model', tool: 'Tools' },
  input: 'Messages to the model',
  output: 'Reply',
  arguments: 'Arguments',
  result: 'Result',
  ofSpan: 'Of the span',
  ofResource: 'Of the resource',
  noAttributes: 'None.',
  noEvents: 'The span has no events.',
  rawSpan: 'The span as JSON',
  bytes,

  // Comparing.
  compareTraces: 'Compare traces',
  differences: 'Differences',
  a: 'A',
  b: 'B',
  onlyA: 'Only in A',
  onlyB: 'Only in B',
  change,
  fromTo: (from: string, to: string) => `${from} → ${to}`,
  deltaTook: 'Δ Duration',
  deltaTokens: 'Δ Tokens',
  deltaCost: 'Δ Cost',
  durations: (delta: number) => change(delta, micros),
  counts: (delta: number) => change(delta, number),
  amounts: (delta: number) => change(delta, usd),
  chooseBoth: 'Open a trace and choose “Compare with…”, or select two in the list.',
  slower: (delta: number) =>
    delta === 0
      ? 'B takes as long as A'
      : `B takes ${micros(Math.abs(delta))} ${delta > 0 ? 'longer' : 'less'}`,
  onlyCounts: (a: number, b: number) =>
    a + b === 0
      ? 'Both have the same spans.'
      : `${plural(a, spans)} only in A, ${plural(b, spans)} only in B.`,
  moreRows: (count: number) =>
    plural(count, { one: '# more row is not shown.', other: '# more rows are not shown.' }),
  swap: 'Swap A and B',

  // The tab of a Work Item.
  attempt: 'Attempt',
  notKept: 'The platform has no trace of this attempt: it is not kept any more, or was not yet stored.',

  // The store.
  store: 'Trace store',
  storeStates: {
    on: 'Traces are kept as they come.',
    off: 'No traces are kept (TRACE_STORE is off).',
    behind: (seconds: number) => `The store is ${duration(seconds * 1_000)} behind.`,
    failing: 'Traces cannot be stored at present. They wait in the telemetry log.',
  },
  storeFacts: {
    state: 'State',
    stored: 'Stored',
    queued: 'Waiting',
    dropped: 'Left out',
    expired: 'Removed since',
    bytes: 'Size',
    oldest: 'Oldest',
    error: 'Last error',
  },
  nothingKept: 'nothing is kept',
  deleteAll: 'Delete all traces',
  deleted: 'All traces are deleted',
  deleteMore: 'They are gone at once and do not come back. What integrations have got stays there.',
});
