import { audit } from '../audit/index.ts';
import { notify } from '../database/index.ts';
import { type Route, route } from '../http/index.ts';
import type { Health } from '../telemetry/index.ts';
import type { TestResult } from './connection-test.ts';
import { type IntegrationRouteParts, integrationPath } from './routes.ts';
import { health, testBody, testResult } from './schemas.ts';
import type { ProviderSettings } from './settings.ts';

/** On which replicas hear the number of an integration whose test succeeded. */
export const testedChannel = 'observability_tested';

/** An integration that nothing was sent to yet. */
const unused: Omit<Health, 'state'> = {
  delivered: 0,
  rejected: 0,
  dead_lettered: 0,
  expired: 0,
  discarded: 0,
  queued: 0,
  backlog_bytes: 0,
  backlog_age_seconds: 0,
  last_success_at: null,
  last_error: null,
  next_attempt_at: null,
};

/** Tests of a connection, and how its delivery is doing (product, section 8). */
export const testRoutes = ({
  db,
  integrations,
  test,
  healthOf,
}: Pick<IntegrationRouteParts, 'db' | 'integrations'> & {
  test: (settings: ProviderSettings) => Promise<TestResult>;
  healthOf: (number: number) => Promise<Health | undefined>;
}): Route[] => {
  const { find } = integrations;
  return [
    route({
      id: 'testObservabilityIntegration',
      role: 'admin',
      method: 'POST',
      path: `${integrationPath}/test`,
      summary: 'Send one sample span; a success lets a paused delivery go on',
      find,
      response: testResult,
      handler: async ({ found, actor }) => {
        const result = await test(integrations.open(found));
        if (result.ok) {
          await db.tx(async (tx) => {
            await audit(tx, actor, 'integration.test', found.id);
            await notify(tx, testedChannel, String(found.number));
          });
        }
        return result;
      },
    }),
    route({
      id: 'testObservabilitySettings',
      role: 'admin',
      method: 'POST',
      path: '/observability/integrations/test',
      summary: 'Send one sample span with settings that are not saved',
      body: testBody,
      response: testResult,
      handler: ({ body }) => test(body.settings),
    }),
    route({
      id: 'getObservabilityHealth',
      role: 'admin',
      method: 'GET',
      path: `${integrationPath}/health`,
      summary: 'Whether an integration delivers, and what became of every span',
      find,
      response: health,
      handler: async ({ found }) => {
        const told = (await healthOf(found.number)) ?? { ...unused, state: 'delivering' as const };
        return found.is_enabled ? told : { ...told, state: 'disabled' as const };
      },
    }),
  ];
};
