import { expect, test } from 'vitest';
import { residentMb } from '../harness/proc.ts';
import { spawnPlatform } from '../harness/process.ts';

/** A trace of 1.2 MB in JSON: the engine keeps a text of more than a megabyte outside of its heap. */
const body = JSON.stringify({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: Array.from({ length: 600 }, (_, n) => ({
            traceId: String(n + 1).padStart(32, '0'),
            spanId: String(n + 1).padStart(16, '0'),
            name: 'x'.repeat(1_900),
          })),
        },
      ],
    },
  ],
});

test('large traces in JSON leave nothing in memory', async () => {
  await using platform = await spawnPlatform({ env: { LOG_LEVEL: 'error' } });
  const send = async (): Promise<void> => {
    const response = await fetch(`${platform.url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
      body,
    });
    expect([response.status, await response.text()]).toEqual([200, '{}']);
  };
  const sendMany = async (requests: number): Promise<number> => {
    for (let n = 0; n < requests; n++) await send();
    return residentMb(platform.pid);
  };
  const before = await sendMany(60);
  // Each text that stayed would be 1.2 MB.
  expect(await sendMany(120)).toBeLessThan(before + 80);
});
