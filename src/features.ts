import { type Access, createAccess } from './access/index.ts';
import { createAgents } from './agents/index.ts';
import { type Alerts, createAlerts } from './alerts/index.ts';
import { createApplication } from './application/index.ts';
import { createAudit } from './audit/index.ts';
import { createBranding } from './branding/index.ts';
import { createBudgets } from './budgets/index.ts';
import { createCallbacks } from './callbacks/index.ts';
import { announcer, createChannels, someStepIsDue } from './channels/index.ts';
import { createCharges, isPriceUsed } from './charges/index.ts';
import { createConsole } from './console/index.ts';
import { createConversations } from './conversations/index.ts';
import { createDataConnections } from './data-connections/index.ts';
import { createDataFrames } from './data-frames/index.ts';
import { createDocumentIntelligence } from './document-intelligence/index.ts';
import { createEvaluation, keepTrial } from './evaluation/index.ts';
import { createEventConnections } from './event-connections/index.ts';
import { OpenStreams } from './event-streams/index.ts';
import { createExternalWorkers } from './external-workers/index.ts';
import type { Feature, Services } from './feature.ts';
import { fileOwners } from './file-owners.ts';
import { createFiles } from './files/index.ts';
import { createLlmConfigurations, type LlmConfigurations } from './llm-configurations/index.ts';
import { createDestinations, createObservability } from './observability/index.ts';
import { createPrices } from './prices/index.ts';
import { createReplicas } from './replicas/index.ts';
import { createReviews } from './reviews/index.ts';
import { createModels, createRuntime } from './runtime/index.ts';
import { createSandbox } from './sandbox/index.ts';
import { createSchedules, type Schedules } from './schedules/index.ts';
import { createSemanticDataModels } from './semantic-data-models/index.ts';
import type { SettingsFeature } from './settings/index.ts';
import { createTelemetry, type Telemetry, type Tracing } from './telemetry/index.ts';
import { createToolInputs } from './tool-inputs/index.ts';
import { createToolProtocol } from './tool-protocol/index.ts';
import { createToolServers } from './tool-servers/index.ts';
import { createTraceStore, createTraces } from './traces/index.ts';
import { createTriggers, listTriggersOfConnection } from './triggers/index.ts';
import { createWorkItems } from './work-items/index.ts';
import { createWorkspace } from './workspace/index.ts';

export interface Features extends Pick<Access, 'authenticate' | 'createFirstKey'> {
  /** In the order in which they start, and in which the documents show them. */
  list: readonly Feature[];
  tracing: Tracing;
  /** For tests that move a clock. */
  telemetry: Telemetry;
  schedules: Schedules;
  alerts: Alerts;
}

/** The features of the platform and what each needs of the others: the one visible list. */
export const createFeatures = (services: Services & { settings: SettingsFeature }): Features => {
  /** Complete at the end: those that need all of them read it when they are asked. */
  const list: Feature[] = [];

  const audit = createAudit(services);
  const branding = createBranding(services);

  const sandbox = createSandbox(services);
  const owners = fileOwners(services.db);
  const files = createFiles(services, { owners });
  const resolveLlm = (llmId: string | null) => llms.resolve(llmId);
  const prices = createPrices(services, { resolveLlm, isUsed: isPriceUsed });
  const budgets = createBudgets(services);
  const charges = createCharges(services, { prices, budgets, resolveLlm });
  const { accounts } = charges;
  const models = createModels({ ...services, accounts, resolveLlm });
  const llms: LlmConfigurations = createLlmConfigurations(services, { models });
  const toolInputs = createToolInputs(services);
  const toolServers = createToolServers(services, { models });
  const dataConnections = createDataConnections(services, { sandbox });
  const semanticDataModels = createSemanticDataModels(services, { connections: dataConnections, llms });
  const eventConnections = createEventConnections(services, { listTriggersOf: listTriggersOfConnection });
  const callbacks = createCallbacks(services);
  const agents = createAgents(services, { callbacks, llms, toolServers, semanticDataModels });

  const destinations = createDestinations(services);
  const traceStore = createTraceStore(services);
  const telemetry = createTelemetry(services, { destinations, sink: traceStore.sink });
  const observability = createObservability(services, {
    destinations,
    telemetry: telemetry.path,
  });

  const openStreams = new OpenStreams();
  const workItems = createWorkItems(services, { agents, budgets, callbacks, observability, openStreams });
  const externalWorkers = createExternalWorkers(services, {
    budgets,
    charges: charges.ofExternalWorker,
    onFinished: workItems.onFinished,
  });
  const triggers = createTriggers(services, { connections: eventConnections });
  const schedules = createSchedules(services, {
    tracing: telemetry.tracing,
    countEvents: triggers.countEventsOfAgents,
  });
  const alerts = createAlerts(services, {
    schedules,
    announcer,
    passes: [{ mayBeDue: someStepIsDue, run: (tx) => announcer.sendDueSteps(tx) }],
  });
  const access = createAccess(services, { features: list, workItems, alerts });
  const dataFrames = createDataFrames(services, {
    files,
    sandbox,
    owners,
    models: semanticDataModels,
    lockTrial: keepTrial,
  });
  const documentIntelligence = createDocumentIntelligence(services, {
    sandbox,
    bytes: files.bytes,
    owners,
    llms,
    telemetry: telemetry.path,
  });
  const runtime = createRuntime(services, {
    accounts,
    llms,
    modelTools: semanticDataModels.tools,
    telemetry: telemetry.path,
    toolServers: toolServers.tools,
    files,
    dataFrames,
    documents: documentIntelligence.forAgents,
    onFinished: workItems.onFinished,
  });
  const conversations = createConversations(services, { agents, budgets, runtime, openStreams });
  const reviews = createReviews(services, {
    sources: { work_item: workItems.reviews, conversation: conversations.reviews },
  });
  const channels = createChannels(services, {
    subjects: { readReview: reviews.read, readAlert: alerts.read },
    deciders: {
      findReview: reviews.find,
      seesReview: reviews.sees,
      decide: reviews.decide,
      acknowledge: alerts.acknowledge,
    },
    replicaId: () => replicas.id,
  });
  reviews.announcedBy(announcer);
  const evaluation = createEvaluation(services, {
    agents,
    runtime,
    dataFrames,
    tracing: telemetry.tracing,
    files,
    llms,
    toolServers,
    dataConnections,
    semanticDataModels,
  });

  const workspace = createWorkspace(services, {
    settings: services.settings,
    budgets,
    eventConnections,
    triggers,
    llms,
    prices,
    toolServers,
    dataConnections,
    semanticDataModels,
    evaluation,
    agents,
    schedules,
    observability,
    alerts,
    channels,
    roleMappings: access.roleMappings,
    documentIntelligence,
  });
  const toolProtocol = createToolProtocol(services, { conversations: conversations.asking });
  const replicas = createReplicas(services, { features: list, schedules, telemetry: telemetry.path });

  const application = createApplication(services, {
    access,
    agents,
    alerts,
    audit,
    budgets,
    channels,
    charges,
    observability,
    replicas,
    schedules,
    triggers,
    workItems,
  });

  list.push(
    toolInputs,
    budgets,
    agents,
    conversations,
    schedules,
    triggers,
    workItems,
    reviews,
    externalWorkers,
    callbacks,
    toolProtocol,
    destinations,
    telemetry,
    observability,
    createTraces(services, { store: traceStore, telemetry: telemetry.path }),
    llms,
    prices,
    charges,
    toolServers,
    runtime,
    application,
    replicas,
    alerts,
    sandbox,
    dataConnections,
    semanticDataModels,
    eventConnections,
    ...channels.features,
    files,
    dataFrames,
    documentIntelligence,
    evaluation,
    ...access.features,
    services.settings,
    branding,
    workspace,
    audit,
    createConsole(services),
  );
  return {
    list,
    authenticate: access.authenticate,
    createFirstKey: access.createFirstKey,
    tracing: telemetry.tracing,
    telemetry,
    schedules,
    alerts,
  };
};
