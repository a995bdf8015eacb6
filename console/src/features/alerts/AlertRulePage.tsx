import { useParams } from '@tanstack/react-router';
import { listPolling, perform, useAction, useEditForm, useOperation } from '../../api/index.ts';
import type { Alert, NamedAlertRule } from '../../api/types.gen.ts';
import { DetailPage, EditForm, FormFields } from '../../resource/index.ts';
import { hrefOfThing } from '../../resource/thing.ts';
import { to } from '../../routing/to.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { alerts } from '../../text/en/alerts.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  Button,
  type Column,
  Columns,
  Emphasis,
  Link,
  Loaded,
  Muted,
  notify,
  Section,
  Table,
  TwoLines,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import { alertRuleForm } from './form.tsx';
import { StateTag } from './marks.tsx';
import { appliesTo, scopeOf } from './rules.tsx';

const Settings = ({ rule, etag }: { rule: NamedAlertRule; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getNamedAlertRule',
    change: 'updateAlertRule',
    params: { alert_rule_id: rule.id },
    loaded: { body: rule, etag },
    ...alertRuleForm.edit,
    disabledReason: useDisabledReason('updateAlertRule'),
  });
  return (
    <Section title={words.settings}>
      <EditForm edit={edit} {...alertRuleForm.compare} onSaved={() => notify(words.saved)}>
        <FormFields of={alertRuleForm} form={edit.form} exists />
      </EditForm>
    </Section>
  );
};

const columns: readonly Column<Alert>[] = [
  {
    key: 'alert',
    title: alerts.alert,
    cell: ({ title, fired_at }) => (
      <TwoLines below={<Time at={fired_at} form="relative" />}>{title}</TwoLines>
    ),
  },
  { key: 'state', title: alerts.state, width: '110px', cell: (alert) => <StateTag alert={alert} /> },
];

/** The last alerts that it fired. */
const Fired = ({ ruleId }: { ruleId: string }) => {
  const query = { rule_id: ruleId, limit: 10 };
  const got = useOperation('listAlerts', {}, { query, every: listPolling(true) });
  return (
    <Section title={words.alerts}>
      <Loaded got={got} operation="listAlerts">
        {({ data }) =>
          data.length === 0 ? (
            <Muted>{words.noAlerts}</Muted>
          ) : (
            <Box>
              <Table
                label={words.alerts}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ title }) => title}
                href={({ id }) => to('/alerts/$alertId', { alertId: id })}
              />
            </Box>
          )
        }
      </Loaded>
    </Section>
  );
};

const Lead = ({ rule }: { rule: NamedAlertRule }) => {
  const { agent, schedule, kind, enabled } = rule;
  const href = schedule
    ? hrefOfThing('schedule', schedule.id, schedule.agent_id)
    : agent && hrefOfThing('agent', agent.id);
  const applies = appliesTo(rule);
  return (
    <>
      {words.kindHints[kind]}{' '}
      <Words text={words.applies} to={href ? <Link href={href}>{applies}</Link> : applies} />{' '}
      {!enabled && <Emphasis tone="late">{words.isOff[scopeOf(rule)]}</Emphasis>}
    </>
  );
};

/** One alert rule: what it fires for, its last alerts, and the switch that mutes. */
export const AlertRulePage = () => {
  const { alertRuleId } = useParams({ from: '/shell/alert-rules/$alertRuleId' });
  const params = { alert_rule_id: alertRuleId };
  const got = useOperation('getNamedAlertRule', params, { every: listPolling(false) });
  const toggle = useAction(async (enabled: boolean) => {
    await perform('updateAlertRule', params, { body: { enabled }, ifMatch: null });
    notify(enabled ? words.turnedOn : words.turnedOff);
  });
  const mayChange = useDisabledReason('updateAlertRule');
  return (
    <DetailPage
      got={got}
      operation="getNamedAlertRule"
      kind={pages.alertRule}
      name={({ name }) => name}
      list={{ label: pages.alerts, href: to('/alerts', {}, { tab: 'rules' }) }}
      id={alertRuleId}
      lead={(rule) => <Lead rule={rule} />}
      removal={{ operation: 'deleteAlertRule', params, words, text: () => <p>{words.deleteText}</p> }}
      actions={({ enabled }) => (
        <Button busy={toggle.busy} disabledReason={mayChange} onClick={() => void toggle.run(!enabled)}>
          {enabled ? words.turnOff : words.turnOn}
        </Button>
      )}
      problem={toggle.error}
    >
      {(rule) => (
        <Columns side={<Fired ruleId={rule.id} />}>
          <Settings rule={rule} etag={got.etag} />
        </Columns>
      )}
    </DetailPage>
  );
};
