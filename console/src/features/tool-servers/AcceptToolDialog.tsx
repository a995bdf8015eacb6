import { perform, useAction } from '../../api/index.ts';
import type { Tool } from '../../api/types.gen.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { ActionDialog, DiffView, JsonView, notify } from '../../ui/index.ts';
import { ModelWarnings } from './ModelWarnings.tsx';
import { changesOf, saysTheSame } from './tools.ts';

const sentenceOf = (tool: Tool): string => {
  if (tool.state === 'new') return words.acceptNew;
  return saysTheSame(tool) ? words.acceptMoved : words.acceptChanged;
};

/** Shows what a tool says now next to what was accepted, and accepts exactly that. */
export const AcceptToolDialog = ({
  serverId,
  tool,
  disabledReason,
  onClose,
}: {
  serverId: string;
  tool: Tool;
  disabledReason: string | null;
  onClose: () => void;
}) => {
  const accept = useAction(async () => {
    const { name, definition_hash } = tool;
    await perform('acceptTool', { tool_server_id: serverId, tool: name }, { body: { definition_hash } });
    notify(words.accepted);
    onClose();
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.acceptTitle}
      wide
      onConfirm={() => void accept.run()}
      busy={accept.busy}
      error={accept.error}
      disabledReason={disabledReason}
    >
      <p>
        <b>{tool.title ?? tool.name}</b> <code>{tool.tool_name}</code>
      </p>
      <p>{sentenceOf(tool)}</p>
      <ModelWarnings tool={tool} />
      {tool.state === 'new' ? (
        <>
          <p>{tool.description}</p>
          <JsonView value={tool.input_schema} label={words.inputSchema} />
        </>
      ) : (
        !saysTheSame(tool) && (
          <DiffView differences={changesOf(tool)} theirs={words.before} mine={words.now} />
        )
      )}
    </ActionDialog>
  );
};
