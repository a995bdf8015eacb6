import { audit } from '../audit/index.ts';
import { notify } from '../database/index.ts';
import { type Route, route } from '../http/index.ts';
import type { Actor } from '../lib/principal.ts';
import { type Health, unusedHealth } from '../telemetry/index.ts';
import type { TestResult } from './connection-test.ts';
import { type IntegrationRouteParts, integrationPath } from './routes.ts';
import { health, testBody, testResult } from './schemas.ts';
import type { ProviderSettings } from './settings.ts';
import type { IntegrationRow } from './store.ts';

/** The channel that notifies replicas of the number of an integration whose test succeeded. */
export const testedChannel = 'observability_tested';

export interface TestParts extends Pick<IntegrationRouteParts, 'db' | 'integrations'> {
  test: (settings: ProviderSettings) => Promise<TestResult>;
  healthOf: (number: number) => Promise<Health | undefined>;
}

/** Tests an integration as it is stored. If the sample span is accepted, a paused delivery resumes on every replica. */
export const testStored = async (
  { db, integrations, test }: TestParts,
  row: IntegrationRow,
  actor: Actor,
): Promise<TestResult> => {
  const result = await test(integrations.open(row));
  await db.tx(async (tx) => {
    // One that failed has sent the credentials too.
    await audit(tx, actor, 'integration.test', row.id, { ok: result.ok });
    if (result.ok) await notify(tx, testedChannel, String(row.number));
  });
  return result;
};

/** Tests and health of integrations. */
export const testRoutes = (parts: TestParts): Route[] => {
  const { test, healthOf } = parts;
  const { find } = parts.integrations;
  return [
    route({
      id: 'testObservabilityIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'POST',
      path: `${integrationPath}/test`,
      summary: 'Test an integration',
      description: 'Sends one sample span. If it is accepted, a paused delivery resumes.',
      find,
      response: testResult,
      handler: ({ found, actor }) => testStored(parts, found, actor),
    }),
    route({
      id: 'testObservabilitySettings',
      role: 'admin',
      scope: 'observability',
      method: 'POST',
      path: '/observability/integrations/test',
      summary: 'Test integration settings',
      description: 'Sends one sample span with settings that are not saved.',
      body: testBody,
      response: testResult,
      handler: ({ body }) => test(body.settings),
    }),
    route({
      id: 'getObservabilityHealth',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      path: `${integrationPath}/health`,
      summary: 'Get the health of an integration',
      description:
        'Returns whether it delivers, and how many spans it delivered, lost or still has to deliver.',
      find,
      response: health,
      handler: async ({ found }) => {
        const reported = (await healthOf(found.number)) ?? unusedHealth;
        return found.is_enabled ? reported : { ...reported, state: 'disabled' as const };
      },
    }),
  ];
};
