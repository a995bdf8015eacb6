import { audit } from '../audit/index.ts';
import { notify } from '../database/index.ts';
import { type Route, route } from '../http/index.ts';
import { type Health, unusedHealth } from '../telemetry/index.ts';
import type { TestResult } from './connection-test.ts';
import { type IntegrationRouteParts, integrationPath } from './routes.ts';
import { health, testBody, testResult } from './schemas.ts';
import type { ProviderSettings } from './settings.ts';

/** The channel that notifies replicas of the number of an integration whose test succeeded. */
export const testedChannel = 'observability_tested';

/** Tests and health of integrations (product, section 8). */
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
      summary: 'Test an integration',
      description: 'Sends one sample span. If it is accepted, a paused delivery resumes.',
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
      summary: 'Test integration settings',
      description: 'Sends one sample span with settings that are not saved.',
      body: testBody,
      response: testResult,
      handler: ({ body }) => test(body.settings),
    }),
    route({
      id: 'getObservabilityHealth',
      role: 'admin',
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
