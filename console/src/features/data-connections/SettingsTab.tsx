import { path, request, useEditForm } from '../../api/index.ts';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { Button, Conflict, type Difference, Form, notify, Section } from '../../ui/index.ts';
import { ConnectionFields } from './ConnectionFields.tsx';
import { FormProblems, useTried } from './refusals.tsx';
import { TestResult } from './sentences.tsx';
import { type ConnectionValues, isMoved, secretsOf, toChanges, toValues, withFieldNames } from './values.ts';

/** What two versions can be compared by. Secrets are left out. */
const shown = {
  name: common.name,
  host: words.host,
  port: words.port,
  database: words.database,
  username: words.username,
  tls: words.tls,
  ca: words.ca,
  client_certificate: words.client_certificate,
  path: words.path,
  description: words.description,
  tags: words.tags,
} as const satisfies Partial<Record<keyof ConnectionValues, string>>;

const textOf = (name: keyof typeof shown, values: ConnectionValues): string =>
  name === 'tls' ? words.tlsModes[values.tls] : String(values[name] ?? '');

const differences = (theirs: ConnectionValues, mine: ConnectionValues): Difference[] =>
  (Object.keys(shown) as (keyof typeof shown)[])
    .filter((name) => theirs[name] !== mine[name])
    .map((name) => ({ label: shown[name], theirs: textOf(name, theirs), mine: textOf(name, mine) }));

/** Changes a data connection. Secrets that are not replaced stay; another configuration is tested before it is saved. */
export const SettingsTab = ({
  connection,
  etag,
  disabledReason,
}: {
  connection: PublicDataConnection;
  etag: string | null;
  disabledReason: string | null;
}) => {
  const address = path`/api/v2/data-connections/${connection.id}`;
  const { tried, keepSteps } = useTried();
  const { form, saved, theirs, keepTheirs, writeMine, later } = useEditForm({
    path: address,
    loaded: { body: connection, etag },
    toValues,
    save: async (values: ConnectionValues, ifMatch) => {
      const reply = await keepSteps(
        withFieldNames(
          request<PublicDataConnection>('PATCH', address, {
            body: toChanges(values, overwritten()),
            ifMatch,
          }),
        ),
      );
      notify(words.saved);
      return reply;
    },
    invalidates: ['/api/v2/data-connections'],
  });
  // "Write mine" changes all that someone else saved, except secrets, which it does not show.
  const overwritten = (): ConnectionValues => {
    const own = toValues(saved);
    return theirs ? { ...theirs, ...secretsOf(own) } : own;
  };
  const secrets = secretsOf(toValues(saved));
  return (
    <Section label={words.tabs.settings}>
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
        <ConnectionFields
          form={form}
          fixed
          stored={{ password: secrets.password === null, client_key: secrets.client_key === null }}
          moved={isMoved(form.values, overwritten())}
          disabledReason={disabledReason}
        />
        <FormProblems form={form} />
        {tried && <TestResult engine={connection.engine} result={tried} />}
      </Form>
      <Conflict
        open={theirs !== null}
        differences={theirs ? differences(theirs, form.values) : []}
        onKeepTheirs={keepTheirs}
        onWriteMine={() => void writeMine()}
        onClose={later}
        busy={form.busy}
      />
    </Section>
  );
};
