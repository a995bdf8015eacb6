import { type Body, type LoadState, perform, useForm, useOperation, usePermission } from '../../api/index.ts';
import type { AdvancedSettingsSchema } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { settings as words } from '../../text/en/settings.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  Callout,
  Checkbox,
  FilterBar,
  FilterText,
  Loaded,
  NothingMatches,
  notify,
  Page,
  Problem,
  permissionReason,
  Section,
  useShown,
} from '../../ui/index.ts';
import { groupOf, groups } from './groups.ts';
import css from './SettingField.module.css';
import { type Definition, SettingField, shown, type Value } from './SettingField.tsx';
import type { settingsSearch } from './search.ts';

type Values = Record<string, Value>;

const SettingsForm = ({ schema, current }: { schema: AdvancedSettingsSchema; current: Values }) => {
  const { search, set, replace, clear, count } = useUrlState<ReturnType<typeof settingsSearch>>();
  const reason = permissionReason(usePermission('updateAdvancedSettings'));
  const changesOf = (values: Values) =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== current[name]));
  const form = useForm<Values>(current, async (values) => {
    const changes = changesOf(values) as Body<'updateAdvancedSettings'>;
    const { body } = await perform('updateAdvancedSettings', {}, { body: changes });
    notify(words.saved);
    form.reset(body as unknown as Values);
  });
  const changes = Object.keys(changesOf(form.values));
  const q = (search.q ?? '').toLowerCase();
  const matches = ({ name, description, ...definition }: Definition) =>
    `${name} ${description}`.toLowerCase().includes(q) &&
    (!search.changed || form.values[name] !== definition.default);
  const found = schema.filter(matches);
  const inOrder = groups.flatMap((group) => found.filter(({ name }) => groupOf(name) === group));
  const shownNow = useShown(inOrder);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit();
      }}
    >
      <FilterBar set={count(['q', 'changed'])} onClear={() => clear(['q', 'changed'])}>
        <FilterText value={search.q ?? ''} onChange={(q) => replace({ q })} />
        <Checkbox
          label={words.changed}
          value={search.changed === '1'}
          onChange={(changed) => set({ changed: changed ? '1' : undefined })}
        />
      </FilterBar>
      {changes.length > 0 && (
        <Section label={words.pending(changes.length)}>
          <Callout tone="look" title={words.pending(changes.length)}>
            <ul className={css.changes}>
              {changes.map((name) => (
                <li key={name}>
                  <code>{words.change(name, shown(current[name]), shown(form.values[name]))}</code>
                </li>
              ))}
            </ul>
            <Bar>
              <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
                {common.save}
              </Button>
              <Button kind="quiet" onClick={() => form.reset(current)}>
                {common.discard}
              </Button>
            </Bar>
          </Callout>
          {form.error && <Problem error={form.error} />}
        </Section>
      )}
      {found.length === 0 && (
        <NothingMatches
          what={words.what}
          filters={count(['q', 'changed'])}
          onClear={() => clear(['q', 'changed'])}
        />
      )}
      {groups.map((group) => {
        const members = shownNow.filter(({ name }) => groupOf(name) === group);
        return (
          members.length > 0 && (
            <Section key={group} title={words.groups[group]}>
              <Box>
                {members.map((definition) => (
                  <SettingField
                    key={definition.name}
                    {...form.field(definition.name)}
                    value={form.values[definition.name] ?? null}
                    definition={definition}
                    disabledReason={reason}
                  />
                ))}
              </Box>
            </Section>
          )
        );
      })}
    </form>
  );
};

export const SettingsPage = () => {
  const schema = useOperation('getAdvancedSettingsSchema', {}, { staleTime: 60_000 });
  const current = useOperation('getAdvancedSettings', {});
  const both: LoadState<{ schema: AdvancedSettingsSchema; current: Values }> = {
    ...current,
    data:
      schema.data && current.data
        ? { schema: schema.data, current: current.data as unknown as Values }
        : undefined,
    error: current.error ?? schema.error,
    loading: current.loading || schema.loading,
  };
  return (
    <Page
      title={pages.settings}
      lead={words.lead}
      actions={<ButtonLink href={to('/branding')}>{words.branding}</ButtonLink>}
    >
      <Loaded got={both} operation="getAdvancedSettings">
        {(loaded) => <SettingsForm {...loaded} />}
      </Loaded>
    </Page>
  );
};
