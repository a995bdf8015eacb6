export {
  eventStream,
  eventStreamHeaders,
  eventStreamType,
  type StreamEvent,
  type StreamSource,
} from './event-stream.ts';
export { lastEventIdOf, lastEventIdQuery } from './last-event-id.ts';
export { OpenStreams } from './open-streams.ts';
export { Watcher } from './watcher.ts';
