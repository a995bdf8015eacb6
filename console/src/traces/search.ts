import { oneOf, text } from '../routing/search.ts';

export const spanTabs = ['overview', 'messages', 'attributes', 'events', 'raw'] as const;

/** The parameters of an address that the view of a trace reads. */
export const traceReaders = { span: text, show: oneOf(spanTabs) };
