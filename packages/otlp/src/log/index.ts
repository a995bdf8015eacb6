export { type Counts, countNames, type DeliveryCounters, passed, zeroCounts } from './counts.ts';
export {
  type DeadLetter,
  type DeadLetterEnd,
  deadLetterId,
  isDeadLetterId,
  type NewDeadLetter,
} from './dead-letter.ts';
export { openFileLog } from './files/file-log.ts';
export { writeAll } from './files/writer.ts';
export {
  type Batch,
  type Slice,
  type TelemetryLog,
  TelemetryLogError,
  TelemetryLogRefusal,
} from './log.ts';
