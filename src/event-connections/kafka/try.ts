import type { Egress } from '../../lib/egress.ts';
import { dial } from '../dial.ts';
import { BrokerFailure, type BrokerSteps } from '../failures.ts';
import { type Server, withFirstServer } from '../servers.ts';
import type { KafkaSettings } from '../settings.ts';
import { openAdmin } from './client.ts';
import { failureOf, hasApiError } from './failures.ts';

/** The version of Fetch that Kafka 3.5 has. */
const oldestFetch = { key: 1, version: 15 };

const tryBroker = async (
  server: Server,
  settings: KafkaSettings,
  egress: Pick<Egress, 'resolve'>,
  steps: BrokerSteps,
): Promise<void> => {
  const socket = await dial(server, egress, steps);
  socket.destroy();
  const hasTls = settings.tls.mode !== 'disable';
  steps.begin(hasTls ? 'tls' : 'authenticate');
  const { client, close } = openAdmin(settings, egress, [server]);
  try {
    const apis = await steps.within(client.listApis());
    if (hasTls) {
      steps.passed(
        settings.tls.mode === 'verify_full'
          ? 'The certificate of the broker is valid.'
          : 'The connection is encrypted. Who the broker is was not checked.',
      );
    }
    steps.begin('authenticate');
    steps.passed(
      settings.sasl ? 'The broker accepts the user.' : 'The broker accepts connections without SASL.',
    );
    steps.begin('version');
    const fetch = apis.find(({ apiKey }) => apiKey === oldestFetch.key);
    if (!fetch || fetch.maxVersion < oldestFetch.version) {
      throw new BrokerFailure('unsupported', 'The broker is too old: Kafka 3.5 or newer is needed.');
    }
    steps.passed('The broker is Kafka 3.5 or newer.');
    steps.begin('list');
    const topics = await steps.within(client.listTopics({}));
    steps.passed(`The user sees ${topics.length} topics.`);
  } catch (error) {
    if (hasApiError(error, 'TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED')) {
      throw new BrokerFailure('refused', 'The user may not list topics.');
    }
    throw failureOf(error);
  } finally {
    // A person waits for the response, and not for the end of the connection.
    void close();
  }
};

/** Tries what a reading does with the first broker that can be used. `passed` gets the steps. Rejects with BrokerFailure. */
export const testKafka = async (
  settings: KafkaSettings,
  egress: Pick<Egress, 'resolve'>,
  withinMs: number,
  passed: (steps: BrokerSteps) => void,
): Promise<void> =>
  withFirstServer(settings.brokers, withinMs, passed, (server, steps) =>
    tryBroker(server, settings, egress, steps),
  );
