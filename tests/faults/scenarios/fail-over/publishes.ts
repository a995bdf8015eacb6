import { must } from '../fixture.ts';
import { forever } from '../workloads.ts';
import { brief, persist, type StartLoad } from './load.ts';

/** Edits and publishes of one agent: the latest version that was acknowledged runs. */
export const startPublishes: StartLoad = async (fixture) => {
  const agent = await must(
    fixture.api().post('/agents', { name: 'released', mode: 'worker', release: 'manual' }),
  );
  let published = 1;
  let edition = 0;
  const load = forever(1, 200, async () => {
    const n = edition++;
    await persist(fixture, (api, headers) =>
      api.patch(`/agents/${agent.id}`, { instructions: `edition ${n}` }, { headers, ...brief() }),
    );
    const { version } = await persist(fixture, (api, headers) =>
      api.post(`/agents/${agent.id}/publish`, {}, { headers, ...brief() }),
    );
    if (version) published = Math.max(published, version);
  });
  return {
    stop: () => load.stop(),
    problems: async () => {
      const { version } = await must(fixture.api().get(`/agents/${agent.id}`));
      return Number(version) < published ? [`version ${published} was published, ${version} runs`] : [];
    },
    figures: () => ({ published }),
    [Symbol.asyncDispose]: async () => {},
  };
};
