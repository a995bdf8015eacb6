import { expect, it } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { testServices } from '../../../tests/harness/services.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { keyAttention } from '../../access/keys/attention.ts';
import { versionAttention } from '../../agents/versions/attention.ts';
import { alertAttention } from '../../alerts/attention.ts';
import { auditAttention } from '../../audit/attention.ts';
import { budgetAttention } from '../../budgets/attention.ts';
import { channelAttention } from '../../channels/attention.ts';
import { priceAttention } from '../../charges/attention.ts';
import { findSpent } from '../../charges/recent.ts';
import { integrationAttention, readIntegrations } from '../../observability/overview/attention.ts';
import { deliveredByHour } from '../../observability/overview/numbers.ts';
import { replicaAttention } from '../../replicas/attention.ts';
import { listRoles } from '../../replicas/store.ts';
import { scheduleAttention } from '../../schedules/overview/attention.ts';
import { ScheduleNumbers } from '../../schedules/overview/numbers.ts';
import { triggerAttention } from '../../triggers/overview/attention.ts';
import { TriggerNumbers } from '../../triggers/overview/numbers.ts';
import { workItemAttention } from '../../work-items/overview/attention.ts';
import { WorkItemNumbers } from '../../work-items/overview/numbers.ts';
import { OverviewReader } from './overview.ts';

const parts = () => ({
  schedules: { attention: scheduleAttention, numbers: new ScheduleNumbers() },
  triggers: { attention: triggerAttention, numbers: new TriggerNumbers() },
  workItems: { attention: workItemAttention, numbers: new WorkItemNumbers() },
  integrations: { read: readIntegrations, attention: integrationAttention, delivered: deliveredByHour },
  replicas: { roles: listRoles, attention: replicaAttention },
  keyAttention,
  auditAttention,
  agentAttention: versionAttention,
  costs: { spent: findSpent, attention: priceAttention },
  budgetAttention,
  alertAttention,
  channelAttention,
});
const all = {
  triggers: true,
  workItems: true,
  agents: true,
  integrations: true,
  keys: true,
  audit: true,
  costs: true,
  alerts: true,
  channels: true,
  budgetsOfPeople: true,
};

onPostgres((_name, open) => {
  it('of an empty workspace is not kept, so that the first agent is seen at once', async () => {
    const { settings } = testServices(open());
    const reader = new OverviewReader(
      open(),
      () => settings.get(),
      parts(),
      () => 0,
    );
    expect((await reader.read(all, 24)).setup.agent).toBe(false);
    await makeAgent(open());
    expect((await reader.read(all, 24)).setup.agent).toBe(true);
  });

  it('is computed at most once in two seconds for all who may see the same', async () => {
    const { settings } = testServices(open());
    let now = 1_000;
    let statements = 0;
    const reader = new OverviewReader(
      open(),
      () => settings.get(),
      parts(),
      () => now,
    );
    const read = async (permitted = all, hours = 24) => {
      const before = statements;
      const overview = await reader.read(permitted, hours);
      return { overview, statements: statements - before };
    };
    await makeAgent(open());
    open().onStatement(() => {
      statements++;
    });
    const [one, two] = await Promise.all([reader.read(all, 24), reader.read(all, 24)]);
    expect(two).toBe(one);
    now += 1_999;
    const again = await read();
    expect([again.overview, again.statements]).toEqual([one, 0]);
    const other = await read({ ...all, integrations: false });
    expect(other.overview.integrations).toBeNull();
    expect((await read(all, 12)).statements).toBeGreaterThan(0);
    now += 1;
    expect((await read()).statements).toBeGreaterThan(0);
    open().onStatement(() => {});
  });

  it('a failure is not kept', async () => {
    const { settings } = testServices(open());
    let fails = true;
    const db = {
      ...open(),
      run: ((fn) => (fails ? Promise.reject(new Error('away')) : open().run(fn))) as ReturnType<
        typeof open
      >['run'],
    };
    const reader = new OverviewReader(
      db,
      () => settings.get(),
      parts(),
      () => 0,
    );
    await expect(reader.read(all, 24)).rejects.toThrow('away');
    fails = false;
    await expect(reader.read(all, 24)).resolves.toHaveProperty('attention');
  });
});
