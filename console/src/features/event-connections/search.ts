import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const eventConnectionsSearch = searchSchema({ kind: oneOf(['nats', 'kafka']), next: text });
