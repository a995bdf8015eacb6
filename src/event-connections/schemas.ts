import { z } from 'zod';
import { checkedLater, id, jsonObject, pageOf, pageQuery, stepsOf, timestamp } from '../http/index.ts';
import { required, shownTls } from '../resource/index.ts';
import { changedSettings, createdSettings } from './configuration.ts';
import { brokerReasons, stepNames } from './failures.ts';
import { connectionKinds, saslMechanisms } from './settings.ts';
import { eventConnections } from './store.ts';

const { shown } = eventConnections;
const kind = z.enum(connectionKinds);

const configuredOf = <F extends z.ZodRawShape>(fields: F) =>
  [
    z.object({ kind: z.literal('nats'), ...fields, settings: createdSettings.nats }),
    z.object({ kind: z.literal('kafka'), ...fields, settings: createdSettings.kafka }),
  ] as const;

const [createNats, createKafka] = configuredOf(eventConnections.create);
export const createBody = z
  .discriminatedUnion('kind', [
    createNats.meta({ id: 'CreateNatsConnection' }),
    createKafka.meta({ id: 'CreateKafkaConnection' }),
  ])
  .meta({ id: 'CreateEventConnectionBody' });

export const testBody = z
  .discriminatedUnion('kind', [...configuredOf({})])
  .meta({ id: 'TestEventConnectionBody' });

export const updateBody = z
  .object({
    name: eventConnections.patch.name,
    kind: z.string().optional().describe('Cannot be changed.'),
    settings: checkedLater(changedSettings).describe(
      'Merged key by key; null removes a value. Another server or another `tls` needs the secrets again.',
    ),
  })
  .meta({ id: 'UpdateEventConnectionBody' });

/** Event connections in a workspace document, with their fields in its order. */
export const form = {
  fields: {
    name: eventConnections.fields.name,
    kind: required(z.string()).fixed(),
    settings: required(jsonObject),
  },
  body: createBody,
  patch: updateBody,
  secrets: [
    'settings.password',
    'settings.token',
    'settings.credentials',
    'settings.sasl.password',
    'settings.tls.client_key',
  ],
  address: ({ settings }: Record<string, unknown>) => {
    const { servers, brokers, tls = {} } = settings as Record<string, unknown>;
    const { client_key: _, ...others } = tls as Record<string, unknown>;
    return [servers, brokers, others];
  },
};

export const eventConnection = z
  .object({
    id,
    name: shown.name,
    kind,
    settings: z.union([
      z
        .object({
          servers: z.array(z.string()),
          tls: shownTls,
          username: z.string().nullable(),
          password_set: z.boolean(),
          token_set: z.boolean(),
          credentials_set: z.boolean(),
        })
        .meta({ id: 'ShownNatsSettings' }),
      z
        .object({
          brokers: z.array(z.string()),
          tls: shownTls,
          sasl: z
            .object({ mechanism: z.enum(saslMechanisms), username: z.string(), password_set: z.boolean() })
            .nullable(),
        })
        .meta({ id: 'ShownKafkaSettings' }),
    ]),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicEventConnection' });

export const eventConnectionPage = pageOf('EventConnectionPage', eventConnection);

export const listQuery = pageQuery.extend({ kind: kind.optional() });

export const testResult = z
  .object({
    ok: z.boolean(),
    steps: stepsOf(stepNames),
    reason: z
      .enum(brokerReasons)
      .optional()
      .describe(
        'Why it failed, if it did; `denied`: an address that is not permitted, `refused`: the user lacks a permission.',
      ),
    latency_ms: z.int().describe('The duration of the test, in milliseconds.'),
  })
  .meta({ id: 'EventConnectionTestResult' });
