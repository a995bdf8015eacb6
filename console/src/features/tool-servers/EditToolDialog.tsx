import { type Body, perform, useForm } from '../../api/index.ts';
import type { Tool, UsedToolServer } from '../../api/types.gen.ts';
import { SubmitForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Dialog, JsonView, notify, optionsOf, Select } from '../../ui/index.ts';
import { ModelWarnings } from './ModelWarnings.tsx';

/** Choice that is null for the API. */
const byDefault = 'default';

const choices = words.idempotentChoices;

/** Policies of a tool, next to what it tells the model. */
export const EditToolDialog = ({
  server,
  tool,
  disabledReason,
  onClose,
}: {
  server: UsedToolServer;
  tool: Tool;
  disabledReason: string | null;
  onClose: () => void;
}) => {
  const form = useForm(
    {
      policy: tool.policy ?? byDefault,
      idempotent: tool.idempotent === null ? byDefault : tool.idempotent ? 'repeat' : 'never',
    },
    async ({ policy, idempotent }) => {
      const body = {
        policy: policy === byDefault ? null : (policy as Body<'updateTool'>['policy']),
        idempotent: idempotent === byDefault ? null : idempotent === 'repeat',
      };
      await perform('updateTool', { tool_server_id: server.id, tool: tool.name }, { body });
      notify(words.toolSaved);
      onClose();
    },
    { disabledReason },
  );
  // The server's mark is known only while the tool has none of its own.
  const hint = tool.idempotent === null ? choices[tool.effective_idempotent ? 'repeat' : 'never'] : null;
  return (
    <Dialog open onClose={onClose} title={words.editTitle}>
      <SubmitForm form={form} submit={common.save}>
        <p>
          <b>{tool.title ?? tool.name}</b> <code>{tool.tool_name}</code>
        </p>
        {tool.description !== '' && <p>{tool.description}</p>}
        <ModelWarnings tool={tool} />
        <Select
          {...form.field('policy')}
          onChange={(policy) => form.set({ policy: policy ?? byDefault })}
          label={words.policy}
          options={[
            { value: byDefault, label: words.policyOfServer(words.policies[server.default_policy]) },
            ...optionsOf(words.policies, words.policyHints),
          ]}
        />
        <Select
          {...form.field('idempotent')}
          onChange={(idempotent) => form.set({ idempotent: idempotent ?? byDefault })}
          label={words.idempotent}
          options={[
            {
              value: byDefault,
              label: hint ? words.idempotentDefault(hint) : words.idempotentByServer,
            },
            { value: 'repeat', label: choices.repeat },
            { value: 'never', label: choices.never },
          ]}
        />
        <JsonView value={tool.input_schema} label={words.inputSchema} />
      </SubmitForm>
    </Dialog>
  );
};
