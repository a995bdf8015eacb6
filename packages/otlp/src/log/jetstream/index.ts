export { type NatsAddress, parseNatsAddress } from './address.ts';
export { type Checkpoint, checkpointFromJson, checkpointToJson } from './aggregate.ts';
export { openSharedLog, type SharedLog, type SharedLogOptions } from './jetstream-log.ts';
export { encodeRecord } from './message.ts';
export type { Cursor, DeadLetterStore, StreamStore } from './store.ts';
export { LogStream } from './stream.ts';
