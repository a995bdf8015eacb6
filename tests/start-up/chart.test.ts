import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { findProgram, whySkipped } from '../harness/programs.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const chart = join(root, 'charts/agent-platform');
const helm = findProgram('helm');
const promtool = findProgram('promtool');

/** What the chart makes with the values of the arguments (`--set NAME=VALUE`) and of a file. */
const template = (sets: string[] = [], values: object = {}) => {
  const args = ['template', 'night', chart, ...sets.flatMap((set) => ['--set', set]), '--values', '-'];
  const options = { encoding: 'utf8', stdio: 'pipe', input: stringify(values) } as const;
  return parseAllDocuments(execFileSync(helm!, args, options)).map((one) => one.toJS());
};
interface RoutedPath {
  path: string;
  pathType: string;
  backend: { service: { name: string } };
}
type Manifests = ReturnType<typeof template>;
const kinds = (manifests: Manifests) => manifests.map(({ kind }) => kind).sort();
const find = (manifests: Manifests, wanted: string, name?: string) =>
  manifests.find(({ kind, metadata }) => kind === wanted && (!name || metadata.name === name));
const containerOf = (manifests: Manifests) => find(manifests, 'StatefulSet').spec.template.spec.containers[0];

describe.skipIf(!helm)(`the chart${whySkipped({ helm })}`, () => {
  test('passes the linter', () => {
    expect(execFileSync(helm!, ['lint', '--strict', chart], { encoding: 'utf8' })).toContain(
      '0 chart(s) failed',
    );
  });

  test('runs without root, on a root file system that cannot be written, with credentials from a Secret', () => {
    const manifests = template();
    expect(kinds(manifests)).toEqual(['PodDisruptionBudget', 'Service', 'Service', 'StatefulSet']);
    const { template: pod, volumeClaimTemplates } = manifests.find(({ kind }) => kind === 'StatefulSet').spec;
    const [container] = pod.spec.containers;
    expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.envFrom).toEqual([{ secretRef: { name: 'agent-platform' } }]);
    expect(container.image).toBe(`agent-platform:${version}`);
    expect(volumeClaimTemplates).toHaveLength(1);
  });

  test('gives a start the time to migrate, and a stop the time to leave the Services', () => {
    const { template: pod, updateStrategy } = template(['startSeconds=601']).find(
      ({ kind }) => kind === 'StatefulSet',
    ).spec;
    const [container] = pod.spec.containers;
    expect(container.startupProbe).toMatchObject({ periodSeconds: 5, failureThreshold: 121 });
    expect(container.lifecycle.preStop.exec.command).toEqual(['sleep', '5']);
    expect(pod.spec.terminationGracePeriodSeconds).toBe(30);
    expect(updateStrategy).toEqual({ type: 'RollingUpdate' });
  });

  test('lets only those in that a network policy names, and does not do with no one', () => {
    const from = (list: string, name: string) =>
      `networkPolicy.${list}[0].namespaceSelector.matchLabels.name=${name}`;
    const enabled = 'networkPolicy.enabled=true';
    const peers = [from('from', 'ingress'), from('metricsFrom', 'monitoring')];
    const rule = (name: string, port: string) => ({
      from: [{ namespaceSelector: { matchLabels: { name } } }],
      ports: [{ port, protocol: 'TCP' }],
    });
    const ingressOf = (...sets: string[]) => find(template([enabled, ...sets]), 'NetworkPolicy').spec.ingress;
    expect(ingressOf(...peers)).toEqual([rule('ingress', 'http'), rule('monitoring', 'management')]);
    expect(ingressOf(peers[0]!)).toEqual([rule('ingress', 'http')]);
    expect(() => template([enabled])).toThrow('networkPolicy.from names who');
    expect(() => template([enabled, peers[0]!, 'serviceMonitor.enabled=true'])).toThrow(
      'networkPolicy.metricsFrom names who may read the metrics',
    );
  });

  test('has an Ingress and a ServiceMonitor on request, and no volumes with a shared telemetry log', () => {
    const manifests = template([
      'ingress.enabled=true',
      'ingress.tlsSecret=certificate',
      'serviceMonitor.enabled=true',
      'sharedTelemetryLog=true',
      'sqliteClaim=shop',
      'publicUrl=https://platform.example.com',
      'env.TRUST_PROXY=10.0.0.0/8',
    ]);
    expect(kinds(manifests)).toEqual(
      [
        'Ingress',
        'PodDisruptionBudget',
        'Service',
        'Service',
        'Service',
        'ServiceMonitor',
        'StatefulSet',
      ].sort(),
    );
    expect(find(manifests, 'StatefulSet').spec.volumeClaimTemplates).toBeUndefined();
    expect(containerOf(manifests).env).toEqual([
      { name: 'DATA_DIR', value: '/data' },
      { name: 'MANAGEMENT_PORT', value: '8081' },
      { name: 'PORT', value: '8080' },
      { name: 'PUBLIC_URL', value: 'https://platform.example.com' },
      { name: 'SQLITE_DIR', value: '/sqlite' },
      { name: 'TRUST_PROXY', value: '10.0.0.0/8' },
    ]);
  });

  test('the metrics have a port that the ingress does not reach, and neither it nor /readyz is routed', () => {
    const manifests = template(['ingress.enabled=true', 'serviceMonitor.enabled=true']);
    const [{ http }] = find(manifests, 'Ingress').spec.rules;
    const routes = http.paths.map((one: RoutedPath) => [one.path, one.pathType, one.backend.service.name]);
    expect(routes).toEqual([
      ['/metrics', 'Prefix', 'night-closed'],
      ['/readyz', 'Prefix', 'night-closed'],
      ['/', 'Prefix', 'night'],
    ]);
    const { labels } = find(manifests, 'StatefulSet').spec.template.metadata;
    expect(Object.entries(labels)).not.toEqual(
      expect.arrayContaining(Object.entries(find(manifests, 'Service', 'night-closed').spec.selector)),
    );
    const portsOf = (name: string) =>
      find(manifests, 'Service', name).spec.ports.map(({ name }: { name: string }) => name);
    expect([portsOf('night'), portsOf('night-replicas')]).toEqual([['http'], ['http', 'management']]);
    const [endpoint] = find(manifests, 'ServiceMonitor').spec.endpoints;
    expect(endpoint).toMatchObject({ port: 'management', path: '/metrics' });
    const { startupProbe, livenessProbe, readinessProbe } = containerOf(manifests);
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
      expect(httpGet.port).toBe('management');
  });

  test('ports and folders follow `env`, and a number of it stays as it was written', () => {
    const env = {
      PORT: 9000,
      MANAGEMENT_PORT: '9001',
      DATA_DIR: '/srv',
      RATE: 10_000_000,
      F: 0.5,
      B: false,
      X: null,
    };
    const manifests = template([], { env, serviceMonitor: { enabled: true } });
    const container = containerOf(manifests);
    const value = (name: string) => container.env.find((one: { name: string }) => one.name === name)?.value;
    expect(Object.keys(env).map(value)).toEqual([
      '9000',
      '9001',
      '/srv',
      '10000000',
      '0.5',
      'false',
      undefined,
    ]);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: 9000 },
      { name: 'management', containerPort: 9001 },
    ]);
    expect(container.volumeMounts[0]).toEqual({ name: 'data', mountPath: '/srv' });
    expect(find(manifests, 'Service', 'night-replicas').spec.ports).toMatchObject([
      { port: 9000 },
      { port: 9001 },
    ]);
    expect(value('RATE')).toBe(
      containerOf(template(['env.RATE=10000000'])).env.find(({ name }: { name: string }) => name === 'RATE')
        .value,
    );
  });
});

const copies = 'agent_platform_telemetry_log_copies';

/** The metrics that make each alert of docs/operations.md fire, with what their targets do not add. */
const alarming: Record<string, string | string[]> = {
  AgentPlatformDown: 'up 0x30',
  DatabaseAway: `agent_platform_schedules_overdue ${'NaN '.repeat(31)}`,
  ScheduleOverdue: 'agent_platform_schedules_overdue 1x30',
  ScheduleSkipped: 'agent_platform_occurrences_total{outcome="skipped",reason="missed"} 0+1x30',
  WorkItemError: 'agent_platform_work_items_finished_total{status="ERROR"} 0+1x30',
  WorkItemIndeterminate: 'agent_platform_work_items_finished_total{status="INDETERMINATE"} 0+1x30',
  CallbackFailed: 'agent_platform_callback_attempts_total{outcome="failed"} 0+1x30',
  CallbacksBehind: 'agent_platform_callbacks_overdue 1x30',
  IntegrationPaused: 'agent_platform_integration_paused{integration="i"} 1x30',
  IntegrationBehind: 'agent_platform_integration_backlog_age_seconds{integration="i"} 301x30',
  TraceStoreBehind: 'agent_platform_trace_store_lag_seconds 301x30',
  SpansNotDelivered: 'agent_platform_integration_spans{integration="i",state="expired"} 0+1x30',
  BudgetUsedUp: 'agent_platform_budget_actions_total{budget="b",action="refuse"} 0+1x30',
  ChannelBehind: 'agent_platform_channel_messages_overdue 1x30',
  AlertPassesStopped: 'agent_platform_alert_pass_age_seconds 61+60x30',
  TriggerBlocked: 'agent_platform_triggers_blocked 1x30',
  TriggerBehind: 'agent_platform_trigger_lag_messages{trigger_id="t"} 1001x30',
  EventsInvalid: 'agent_platform_events_total{source="webhook",outcome="invalid"} 0+1x30',
  WebhooksRefused: 'agent_platform_webhooks_refused_total{reason="wrong"} 0+10x30',
  TelemetryLogCopyAway: [`${copies}{state="configured"} 3x30`, `${copies}{state="current"} 2x30`],
  TracesRefused:
    'agent_platform_http_request_duration_seconds_count{operation="raw",status="503",method="POST"} 0+1x30',
};

describe.skipIf(!helm || !promtool)(`the alert rules${whySkipped({ helm, promtool })}`, () => {
  const [, rules] = /```yaml\n(groups:[\s\S]+?)```/.exec(
    readFileSync(join(root, 'docs/operations.md'), 'utf8'),
  )!;

  test('each fires with the labels that the chart gives to the metrics, and only for its reason', async () => {
    const manifests = template(['serviceMonitor.enabled=true']);
    const service = find(manifests, 'Service', 'night-replicas').metadata;
    const { jobLabel, endpoints } = find(manifests, 'ServiceMonitor').spec;
    // What the Prometheus operator adds to each metric of a target.
    const target = {
      job: jobLabel ? service.labels[jobLabel] : service.name,
      service: service.name,
      endpoint: endpoints[0].port,
      namespace: 'default',
      pod: 'night-0',
      container: 'platform',
      instance: '10.0.0.1:8081',
    };
    const seriesOf = (text: string) => {
      const [, name, own, values] = /^(\w+)(?:\{(.*)\})? (.+)$/.exec(text)!;
      const labels = Object.entries(target).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
      return { series: `${name}{${[...labels, ...(own ? [own] : [])].join()}}`, values: values!.trim() };
    };
    const names = parse(rules!).groups[0].rules.map(({ alert }: { alert: string }) => alert);
    expect(names.toSorted()).toEqual(Object.keys(alarming).sort());
    const tests = Object.entries(alarming).map(([alert, text]) => ({
      interval: '1m',
      input_series: [text].flat().map(seriesOf),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '20m',
          exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }],
        },
      ],
    }));
    const folder = await mkdtemp(join(tmpdir(), 'ap-rules-'));
    try {
      await writeFile(join(folder, 'rules.yml'), rules!);
      await writeFile(join(folder, 'test.yml'), JSON.stringify({ rule_files: ['rules.yml'], tests }));
      const args = ['test', 'rules', join(folder, 'test.yml')];
      expect(execFileSync(promtool!, args, { encoding: 'utf8', stdio: 'pipe' })).toContain('SUCCESS');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
