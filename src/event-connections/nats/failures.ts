import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { Blocked } from '../reading/supervise.ts';

/** Whether the server refused a request because the user may not send it. */
const isPermission = (error: unknown): boolean => {
  if (error instanceof errors.PermissionViolationError) return true;
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause instanceof errors.PermissionViolationError;
};

/** Returns Blocked for what only a person can change, else the error itself. */
export const blockedOf = (error: unknown, stream: string, consumer: string): unknown => {
  if (isPermission(error)) {
    return new Blocked(`The user may not read the stream ${stream} with the consumer ${consumer}.`);
  }
  if (!(error instanceof JetStreamApiError)) return error;
  if (error.code === JetStreamApiCodes.StreamNotFound) return new Blocked(`There is no stream ${stream}.`);
  if (error.code === JetStreamApiCodes.JetStreamNotEnabledForAccount) {
    return new Blocked('JetStream is not enabled for the account.');
  }
  // 4xx: the request can never succeed as it is, such as a filter that no subject of the stream matches.
  if (error.status >= 400 && error.status < 500) {
    return new Blocked(
      `The stream ${stream} does not take the consumer ${consumer} (JetStream error ${error.code}).`,
    );
  }
  return error;
};
