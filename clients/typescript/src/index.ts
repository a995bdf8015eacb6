export { type Client, type ClientOptions, createClient, type Input, type OperationName } from './client.ts';
export { ApiError } from './errors.ts';
export { each } from './pages.ts';
export type { StreamEvent } from './stream.ts';
export type * from './types.gen.ts';
