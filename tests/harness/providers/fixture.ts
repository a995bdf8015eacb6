import { Vault } from '../../../src/lib/crypto.ts';
import type { ResolvedLlm } from '../../../src/llm-configurations/index.ts';
import type { LlmSettings } from '../../../src/llm-configurations/kinds.ts';
import { createLlmSettings } from '../../../src/llm-configurations/settings.ts';
import type { Protocol } from './protocol.ts';

const store = createLlmSettings(new Vault([Buffer.alloc(32, 1)]));
const id = '01980000-0000-7000-8000-0000000000ff';

/** A configuration of the protocol's kind for the endpoint at `url`, as the runtime gets it. */
export const llmOf = (protocol: Protocol, url: string, more: Record<string, unknown> = {}): ResolvedLlm => {
  const settings = { kind: protocol.kind, base_url: url, ...protocol.settings, ...more } as LlmSettings;
  return store.resolve({
    id,
    name: 'Fake',
    kind: settings.kind,
    model: protocol.model,
    revision: 1,
    test_passed_at: null,
    created_at: new Date(),
    updated_at: new Date(),
    ...store.columnsOf(id, settings),
  });
};
