import { randomBytes } from 'node:crypto';
import { field, varintField } from '../telemetry/index.ts';

const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));

const attribute = (key: string, value: string): Buffer =>
  field(1, Buffer.concat([text(1, key), field(2, text(1, value))]));

/** A fixed64 field. */
const nanoseconds = (number: number, milliseconds: number): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes[0] = number * 8 + 1;
  bytes.writeBigUInt64LE(BigInt(milliseconds) * 1_000_000n, 1);
  return bytes;
};

/** An ExportTraceServiceRequest (opentelemetry-proto 1.x) with one span, as an admin will find it in the backend. */
export const sampleRequest = (now: number): Buffer => {
  const resource = field(1, attribute('service.name', 'agent-platform'));
  const scope = field(1, text(1, 'agent-platform'));
  const span = Buffer.concat([
    field(1, randomBytes(16)),
    field(2, randomBytes(8)),
    text(5, 'connection test'),
    // SPAN_KIND_INTERNAL
    varintField(6, 1),
    nanoseconds(7, now - 1),
    nanoseconds(8, now),
  ]);
  return field(1, Buffer.concat([resource, field(2, Buffer.concat([scope, field(2, span)]))]));
};
