import type { PublicAgent } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { ui } from '../../text/en/ui.ts';
import { AddToList, Button, type Option, optionsOf, Select, TextField } from '../../ui/index.ts';
import css from './fields.module.css';

export type Policy = PublicAgent['tool_policies'][number];

const policies = optionsOf(words.policy);

export const PolicyFields = ({
  value,
  onChange,
  error,
  disabledReason,
  servers,
}: {
  value: readonly Policy[];
  onChange: (policies: Policy[]) => void;
  error: string | undefined;
  disabledReason: string | null | undefined;
  servers: readonly Option[];
}) => {
  const change = (index: number, patch: Partial<Policy>) =>
    onChange(value.map((policy, i) => (i === index ? { ...policy, ...patch } : policy)));
  const [first] = servers;
  return (
    <fieldset className={css.list} name="tool_policies">
      <legend>{words.policies}</legend>
      <p className={css.hint}>{disabledReason ?? words.policiesHint}</p>
      {value.map(({ tool_server_id, tool, policy }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name of a tool changes while it is typed.
        <div key={index} className={css.policy}>
          <Select
            label={words.policyServer(index + 1)}
            hiddenLabel
            value={tool_server_id}
            onChange={(id) => id !== null && change(index, { tool_server_id: id })}
            options={servers}
            disabledReason={disabledReason}
          />
          <TextField
            label={words.policyTool(index + 1)}
            hiddenLabel
            mono
            placeholder={words.policyToolPlaceholder}
            value={tool}
            onChange={(name) => change(index, { tool: name })}
            disabledReason={disabledReason}
          />
          <Select
            label={words.policyOf(index + 1)}
            hiddenLabel
            value={policy}
            onChange={(chosen) => change(index, { policy: chosen as Policy['policy'] })}
            options={policies}
            disabledReason={disabledReason}
          />
          <Button
            small
            kind="quiet"
            aria-label={words.removePolicy(index + 1)}
            disabledReason={disabledReason}
            onClick={() => onChange(value.filter((_, i) => i !== index))}
          >
            {ui.remove}
          </Button>
        </div>
      ))}
      <AddToList
        label={words.addPolicy}
        error={error}
        disabledReason={disabledReason ?? (first ? null : words.noToolServers)}
        onAdd={() =>
          first && onChange([...value, { tool_server_id: first.value, tool: '', policy: 'require_approval' }])
        }
      />
    </fieldset>
  );
};
