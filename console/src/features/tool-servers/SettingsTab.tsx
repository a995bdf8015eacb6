import { path, request, useEditForm } from '../../api/index.ts';
import type { ToolServer, UsedToolServer } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import {
  Button,
  Columns,
  Conflict,
  type Difference,
  Form,
  notify,
  Problem,
  Quiet,
  Section,
} from '../../ui/index.ts';
import { ToolServerFields } from './ToolServerFields.tsx';
import { UsedBy } from './UsedBy.tsx';
import { secretsOf, type ToolServerValues, toChanges, toValues, withFieldNames } from './values.ts';

/** What two versions can be compared by. Secrets are left out. */
const shown = {
  name: common.name,
  url: words.url,
  oauth: words.oauth,
  client_id: words.client_id,
  issuer: words.issuer,
  scope: words.scope,
  command: words.command,
  args: words.args,
  cwd: words.cwd,
  default_policy: words.default_policy,
  call_timeout_seconds: words.call_timeout_seconds,
  max_concurrency: words.max_concurrency,
  enabled: words.enabled,
} as const satisfies Partial<Record<keyof ToolServerValues, string>>;

const textOf = (name: keyof typeof shown, values: ToolServerValues): string => {
  const value = values[name];
  if (name === 'default_policy') return words.policies[values.default_policy];
  if (typeof value === 'boolean') return value ? common.yes : common.no;
  return value === null ? '' : String(value);
};

const differences = (theirs: ToolServerValues, mine: ToolServerValues): Difference[] =>
  (Object.keys(shown) as (keyof typeof shown)[])
    .filter((name) => theirs[name] !== mine[name])
    .map((name) => ({ label: shown[name], theirs: textOf(name, theirs), mine: textOf(name, mine) }));

/** Changes a tool server. Secrets that are not replaced stay. */
export const SettingsTab = ({
  server,
  etag,
  disabledReason,
}: {
  server: UsedToolServer;
  etag: string | null;
  disabledReason: string | null;
}) => {
  const { form, saved, theirs, keepTheirs, writeMine, later } = useEditForm({
    path: path`/app/api/tool-servers/${server.id}`,
    loaded: { body: server, etag },
    toValues,
    save: async (
      values: ToolServerValues,
      ifMatch,
    ): Promise<{ body: UsedToolServer; etag: string | null }> => {
      const reply = await withFieldNames(
        request<ToolServer>('PATCH', path`/api/v2/tool-servers/${server.id}`, {
          body: toChanges(values, overwritten()),
          ifMatch,
        }),
      );
      notify(words.saved);
      return { body: { ...saved, ...reply.body }, etag: reply.etag };
    },
    invalidates: ['/app/api/tool-servers', '/api/v2/tool-servers'],
  });
  // "Write mine" changes all that someone else saved, except secrets, which it does not show.
  const overwritten = (): ToolServerValues => {
    const own = toValues(saved);
    return theirs ? { ...theirs, ...secretsOf(own) } : own;
  };
  return (
    <Columns
      side={
        <Section title={words.usedBy}>
          {server.used_by.total > 0 ? (
            <UsedBy used_by={server.used_by} />
          ) : (
            <Quiet small>{words.noAgents}</Quiet>
          )}
        </Section>
      }
    >
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" busy={form.busy} disabledReason={disabledReason}>
              {common.save}
            </Button>
            {form.dirty && (
              <Button kind="quiet" onClick={() => form.reset()}>
                {common.discard}
              </Button>
            )}
          </>
        }
      >
        <ToolServerFields
          form={form}
          fixed
          stored={{
            headers: saved.header_names,
            env: saved.env_names,
            client_secret: saved.oauth?.client_secret_set ?? false,
          }}
          disabledReason={disabledReason}
        />
        {form.error && !form.conflict && <Problem error={form.error} />}
      </Form>
      <Conflict
        open={theirs !== null}
        differences={theirs ? differences(theirs, form.values) : []}
        onKeepTheirs={keepTheirs}
        onWriteMine={() => void writeMine()}
        onClose={later}
        busy={form.busy}
      />
    </Columns>
  );
};
