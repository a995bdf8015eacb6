import { expect, it } from 'vitest';
import { normalizeUrl } from './addresses.ts';

it.each([
  ['/api/v2/agents/', '/api/v2/agents'],
  ['/api/v2/agents///?x=/', '/api/v2/agents?x=/'],
  ['///', '/'],
  ['/acme/api/v2/agents/', '/api/v2/agents'],
  ['/tenants/acme/api/v2', '/api/v2'],
  ['/app/api/schedules', '/app/api/schedules'],
  ['/api/v2/agents/%zz', '/api/v2/agents/%25zz'],
])('routes %s as %s', (url, routed) => {
  expect(normalizeUrl(url)).toBe(routed);
});

it('slashes that do not end the path do not make it slower', () => {
  const url = `/api/v2/a${'/'.repeat(15_000)}x`;
  const begun = performance.now();
  for (let n = 0; n < 20; n++) normalizeUrl(url);
  expect(performance.now() - begun).toBeLessThan(400);
});
