import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { listPolling, useOperation, usePermission } from '../../api/index.ts';
import type { Alert } from '../../api/types.gen.ts';
import { DetailPage } from '../../resource/index.ts';
import { hrefOfThing } from '../../resource/thing.ts';
import { to } from '../../routing/to.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Button,
  ButtonLink,
  Columns,
  Facts,
  Link,
  Section,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import { AcknowledgeDialog } from './AcknowledgeDialog.tsx';
import { Messages } from './Messages.tsx';
import { isOpen, StateTag } from './marks.tsx';

const hrefOf = ({ subject, agent_id }: Alert): string | null =>
  subject && hrefOfThing(subject.type, subject.id, agent_id);

const AlertFacts = ({ alert }: { alert: Alert }) => {
  const { subject, agent_id, acknowledged_at, acknowledged_by, note } = alert;
  const seesRules = usePermission('getNamedAlertRule').allowed;
  const href = hrefOf(alert);
  const name = subject ? subject.name : alert.count > 1 ? words.many(alert.count) : null;
  return (
    <Facts
      facts={[
        [words.state, <StateTag key="state" alert={alert} />],
        [words.kind, words.kinds[alert.kind]],
        [words.severity, words.severities[alert.severity]],
        name !== null && [
          words.subject,
          href ? (
            <Link key="subject" href={href}>
              {name}
            </Link>
          ) : (
            name
          ),
        ],
        agent_id !== null &&
          subject?.type !== 'agent' && [
            words.agent,
            <Link key="agent" href={to('/agents/$agentId', { agentId: agent_id })}>
              {words.open.agent}
            </Link>,
          ],
        seesRules && [
          words.rule,
          <Link key="rule" href={to('/alert-rules/$alertRuleId', { alertRuleId: alert.rule_id })}>
            {words.openRule}
          </Link>,
        ],
        [words.firedAt, <Time key="fired" at={alert.fired_at} form="both" />],
        alert.resolved_at !== null && [
          words.resolvedAt,
          <Time key="resolved" at={alert.resolved_at} form="both" />,
        ],
        [
          words.acknowledged,
          acknowledged_at === null ? (
            words.noOne
          ) : (
            <Words
              key="acknowledged"
              text={words.acknowledgedBy}
              name={acknowledged_by?.name}
              at={<Time at={acknowledged_at} form="relative" />}
            />
          ),
        ],
        note !== null && [words.note, note],
      ]}
    />
  );
};

/** One alert: what is wrong, who was told, and who looks after it. */
export const AlertPage = () => {
  const { alertId } = useParams({ from: '/shell/alerts/$alertId' });
  const got = useOperation('getAlert', { alert_id: alertId }, { every: listPolling(true) });
  const mayAcknowledge = useDisabledReason('acknowledgeAlert');
  const [acknowledging, setAcknowledging] = useState(false);
  return (
    <DetailPage
      got={got}
      operation="getAlert"
      kind={pages.alert}
      name={({ title }) => title}
      list={{ label: pages.alerts, href: to('/alerts') }}
      id={alertId}
      lead={({ detail }) => detail}
      actions={(alert) => {
        const href = hrefOf(alert);
        return (
          <>
            {alert.subject && href && <ButtonLink href={href}>{words.open[alert.subject.type]}</ButtonLink>}
            {isOpen(alert) && (
              <Button kind="primary" disabledReason={mayAcknowledge} onClick={() => setAcknowledging(true)}>
                {words.acknowledge}
              </Button>
            )}
          </>
        );
      }}
    >
      {(alert) => (
        <>
          <Columns
            side={
              <Section title={words.facts}>
                <AlertFacts alert={alert} />
              </Section>
            }
          >
            <Messages messages={alert.messages} />
          </Columns>
          {acknowledging && <AcknowledgeDialog alert={alert} onClose={() => setAcknowledging(false)} />}
        </>
      )}
    </DetailPage>
  );
};
