import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import { type Column, Muted, Tag, TwoLines } from '../../ui/index.ts';

/** Says if there are credentials; only administrators see it. */
const secretOf = ({ kind, api_key_set, secret_access_key_set }: UsedLlmConfiguration): string => {
  if (api_key_set === undefined) return words.hidden;
  if (kind === 'mock') return words.secretNone;
  return api_key_set || secret_access_key_set ? words.secretSet : words.secretUnset;
};

const columns: readonly Column<UsedLlmConfiguration>[] = [
  {
    key: 'name',
    title: common.name,
    width: '34%',
    cell: ({ name, model }) => <TwoLines below={model}>{name}</TwoLines>,
  },
  { key: 'kind', title: words.kind, phone: 'below', cell: ({ kind }) => words.kinds[kind] },
  {
    key: 'default',
    title: words.default,
    width: '110px',
    cell: ({ is_default }) => is_default && <Tag kind="on-time">{words.default}</Tag>,
  },
  {
    key: 'used',
    title: words.usedBy,
    phone: 'below',
    cell: ({ used_by: { total, by_default } }) =>
      total === 0 && by_default > 0 ? (
        words.byDefault(by_default)
      ) : (
        <TwoLines below={by_default > 0 ? words.byDefault(by_default) : undefined}>
          {total > 0 ? words.agents(total) : <Muted>{words.noAgents}</Muted>}
        </TwoLines>
      ),
  },
  { key: 'secret', title: words.secret, phone: 'hide', cell: secretOf },
];

export const LlmConfigurationsPage = () => (
  <ListPage
    title={pages.llmConfigurations}
    words={words}
    operation="listUsedLlmConfigurations"
    filters={[{ name: 'q' }]}
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/llm-configurations/$llmId', { llmId: id })}
    create={{ label: words.newLlm, operation: 'createLlmConfiguration', href: to('/llm-configurations/new') }}
    example={[
      'createLlmConfiguration',
      {
        kind: 'openai_compatible',
        name: 'House model',
        model: 'small',
        base_url: 'http://127.0.0.1:11434/v1',
      },
    ]}
  />
);
