import { useState } from 'react';
import type { ListedTrigger } from '../../api/types.gen.ts';
import { DeleteDialog, ListPage, useAgentExample } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { triggers as words } from '../../text/en/triggers.ts';
import { CodeBlock, curlOf, type MenuEntry, optionsOf, Problem, useDisabledReason } from '../../ui/index.ts';
import { columns } from './list/columns.tsx';
import { triggerHref } from './shared/address.ts';
import { PauseDialog } from './shared/PauseDialog.tsx';
import { paramsOf } from './shared/params.ts';
import { useResume } from './shared/use-resume.ts';

const example = {
  name: words.exampleName,
  kind: 'webhook',
  settings: { scheme: 'standard_webhooks' },
  mapping: { message: words.exampleMessage },
} as const;

/** The command that creates a trigger, with the id of an agent that there is. */
const ExampleCommand = () => {
  const command = useAgentExample(true, (agent_id, base) =>
    curlOf(base, 'createTrigger', { agent_id }, { body: example }),
  );
  return command && <CodeBlock code={command} label={words.command} />;
};

type Asked = { action: 'pause' | 'delete'; trigger: ListedTrigger };

const Question = ({ asked: { action, trigger }, onClose }: { asked: Asked; onClose: () => void }) => {
  const { name, kind } = trigger;
  if (action === 'pause') return <PauseDialog trigger={trigger} onClose={onClose} />;
  return (
    <DeleteDialog
      operation="deleteTrigger"
      params={paramsOf(trigger)}
      title={words.deleteTrigger}
      name={name}
      deleted={words.deleted(name)}
      onClose={onClose}
    >
      <p>{words.deleteMore[kind]}</p>
    </DeleteDialog>
  );
};

export const TriggersPage = () => {
  const [asked, setAsked] = useState<Asked | null>(null);
  const mayPause = useDisabledReason('pauseTrigger');
  const mayResume = useDisabledReason('resumeTrigger');
  const mayEdit = useDisabledReason('replaceTrigger');
  const mayDelete = useDisabledReason('deleteTrigger');
  const resume = useResume();
  const menu = (trigger: ListedTrigger): MenuEntry[] => [
    trigger.enabled
      ? {
          label: words.pause,
          onSelect: () => setAsked({ action: 'pause', trigger }),
          disabledReason: mayPause,
        }
      : { label: words.resume, onSelect: () => void resume.run(trigger), disabledReason: mayResume },
    {
      label: common.edit,
      href: to('/agents/$agentId/triggers/$triggerId/edit', {
        agentId: trigger.agent_id,
        triggerId: trigger.id,
      }),
      disabledReason: mayEdit,
    },
    {
      label: common.delete,
      onSelect: () => setAsked({ action: 'delete', trigger }),
      disabledReason: mayDelete,
      danger: true,
      group: true,
    },
  ];
  return (
    <ListPage
      title={pages.triggers}
      words={words}
      operation="listAllTriggers"
      filters={[
        { name: 'q', placeholder: words.filterText },
        { name: 'agent_id', label: words.agent, agents: 'worker' },
        { name: 'kind', label: words.kind, options: optionsOf(words.kinds) },
        { name: 'state', label: words.state, options: optionsOf(words.states) },
      ]}
      columns={columns}
      name={({ name }) => name}
      href={({ id, agent_id }) => triggerHref(agent_id, id)}
      menu={menu}
      create={{ label: words.newTrigger, operation: 'createTrigger', href: to('/triggers/new') }}
      readCommand={<ExampleCommand />}
    >
      {resume.error && <Problem error={resume.error} />}
      {asked && <Question asked={asked} onClose={() => setAsked(null)} />}
    </ListPage>
  );
};
