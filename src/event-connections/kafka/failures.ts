import { isTlsCode } from '../../lib/egress-exchange.ts';
import { codeOf } from '../../lib/foreign-socket.ts';
import { BrokerFailure } from '../failures.ts';
import { Blocked } from '../reading/supervise.ts';

/** An error, those that it is made of, and their causes. */
export function* errorsIn(error: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || depth > 10) return;
  const one = error as Record<string, unknown>;
  yield one;
  if (Array.isArray(one.errors)) for (const inner of one.errors) yield* errorsIn(inner, depth + 1);
  yield* errorsIn(one.cause, depth + 1);
}

/** Whether a broker responded with this error of the protocol. */
export const hasApiError = (error: unknown, ...ids: string[]): boolean =>
  [...errorsIn(error)].some(({ apiId }) => ids.includes(apiId as string));

const refusal = 'The broker refuses the user, the password or the mechanism.';

/** Explains an error of the library, which may quote what a broker wrote. */
export const failureOf = (error: unknown): BrokerFailure => {
  const all = [...errorsIn(error)];
  const known = all.find((one) => one instanceof BrokerFailure);
  if (known) return known as unknown as BrokerFailure;
  const has = (test: (one: Record<string, unknown>) => boolean) => all.some(test);
  if (has(({ code }) => code === 'PLT_KFK_AUTHENTICATION')) {
    return new BrokerFailure('authentication', refusal, 'authenticate');
  }
  if (hasApiError(error, 'SASL_AUTHENTICATION_FAILED', 'UNSUPPORTED_SASL_MECHANISM', 'ILLEGAL_SASL_STATE')) {
    return new BrokerFailure('authentication', refusal, 'authenticate');
  }
  const tls = all.map(codeOf).find(isTlsCode);
  if (tls !== undefined) return new BrokerFailure('tls', `TLS failed (${tls}).`, 'tls');
  if (has(({ message }) => message === 'Broker requires TLS.')) {
    return new BrokerFailure('tls', 'The broker requires TLS.', 'tls');
  }
  if (has(({ message }) => String(message).startsWith('TLS handshake failed'))) {
    return new BrokerFailure('tls', 'The broker does not offer TLS.', 'tls');
  }
  if (has(({ code }) => code === 'PLT_KFK_UNSUPPORTED_API')) {
    return new BrokerFailure(
      'unsupported',
      'The broker is too old: Kafka 3.5 or newer is needed.',
      'version',
    );
  }
  const code = all.map(codeOf).find((one) => one !== 'no code' && !one.startsWith('PLT_KFK'));
  const why = code ?? (all.map(({ apiId }) => apiId).find((one) => typeof one === 'string') as string);
  return new BrokerFailure('unreachable', `The broker cannot be used${why ? ` (${why})` : ''}.`);
};

/** Returns Blocked for what only a person can change, else what explains the error. */
export const blockedOf = (error: unknown, topic: string, group: string): Error => {
  if (error instanceof Blocked) return error;
  const isUnknown = [...errorsIn(error)].some(({ message }) => message === `Unknown topic ${topic}.`);
  if (isUnknown || hasApiError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) {
    return new Blocked(`There is no topic ${topic}, or the user may not see it.`);
  }
  if (hasApiError(error, 'TOPIC_AUTHORIZATION_FAILED')) {
    return new Blocked(`The user may not read the topic ${topic}.`);
  }
  if (hasApiError(error, 'GROUP_AUTHORIZATION_FAILED')) {
    return new Blocked(`The user may not use the consumer group ${group}.`);
  }
  if (hasApiError(error, 'CLUSTER_AUTHORIZATION_FAILED'))
    return new Blocked('The user may not use the cluster.');
  if (hasApiError(error, 'INCONSISTENT_GROUP_PROTOCOL', 'GROUP_ID_NOT_FOUND')) {
    return new Blocked(`The consumer group ${group} has members of another kind.`);
  }
  return failureOf(error);
};
