import { type Access, createAccess } from './access/index.ts';
import { createAgents } from './agents/index.ts';
import { createApplication } from './application/index.ts';
import { createAudit } from './audit/index.ts';
import { createBranding } from './branding/index.ts';
import { createCallbacks } from './callbacks/index.ts';
import { createConsole } from './console/index.ts';
import { createConversations } from './conversations/index.ts';
import { createDataConnections } from './data-connections/index.ts';
import { createDataFrames } from './data-frames/index.ts';
import { createDocumentIntelligence } from './document-intelligence/index.ts';
import { createEvaluation, keepTrial } from './evaluation/index.ts';
import { OpenStreams } from './event-streams/index.ts';
import { createExternalWorkers } from './external-workers/index.ts';
import type { Feature, Services } from './feature.ts';
import { fileOwners } from './file-owners.ts';
import { createFiles } from './files/index.ts';
import { createLlmConfigurations } from './llm-configurations/index.ts';
import { createDestinations, createObservability } from './observability/index.ts';
import { createReplicas } from './replicas/index.ts';
import { createModels, createRuntime } from './runtime/index.ts';
import { createSandbox } from './sandbox/index.ts';
import { createSchedules, type Schedules } from './schedules/index.ts';
import { createSemanticDataModels } from './semantic-data-models/index.ts';
import type { SettingsFeature } from './settings/index.ts';
import { createTelemetry, type Telemetry, type Tracing } from './telemetry/index.ts';
import { createToolProtocol } from './tool-protocol/index.ts';
import { createToolServers } from './tool-servers/index.ts';
import { createWorkItems } from './work-items/index.ts';
import { createWorkspace } from './workspace/index.ts';

export interface Features extends Pick<Access, 'authenticate' | 'createFirstKey'> {
  /** In the order in which they start, and in which the documents show them. */
  list: readonly Feature[];
  tracing: Tracing;
  /** For tests that move a clock. */
  telemetry: Telemetry;
  schedules: Schedules;
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
  const models = createModels(services);
  const llms = createLlmConfigurations(services, { models });
  const toolServers = createToolServers(services, { models });
  const dataConnections = createDataConnections(services, { sandbox });
  const semanticDataModels = createSemanticDataModels(services, { connections: dataConnections, llms });
  const callbacks = createCallbacks(services);
  const agents = createAgents(services, { callbacks, llms, toolServers, semanticDataModels });

  const destinations = createDestinations(services);
  const telemetry = createTelemetry(services, { destinations });
  const observability = createObservability(services, {
    destinations,
    telemetry: telemetry.path,
  });

  const openStreams = new OpenStreams();
  const workItems = createWorkItems(services, { agents, callbacks, observability, openStreams });
  const externalWorkers = createExternalWorkers(services, { onFinished: workItems.onFinished });
  const schedules = createSchedules(services, { tracing: telemetry.tracing });
  const access = createAccess(services, { features: list, workItems });
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
    llms,
    modelTools: semanticDataModels.tools,
    telemetry: telemetry.path,
    toolServers: toolServers.tools,
    files,
    dataFrames,
    documents: documentIntelligence.forAgents,
    onFinished: workItems.onFinished,
  });
  const conversations = createConversations(services, { agents, runtime, openStreams });
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
    llms,
    toolServers,
    dataConnections,
    semanticDataModels,
    evaluation,
    agents,
    schedules,
    observability,
    roleMappings: access.roleMappings,
    documentIntelligence,
  });
  const toolProtocol = createToolProtocol(services, { conversations: conversations.asking });
  const replicas = createReplicas(services, { features: list, schedules, telemetry: telemetry.path });

  const application = createApplication(services, {
    access,
    agents,
    audit,
    observability,
    replicas,
    schedules,
    workItems,
  });

  list.push(
    agents,
    conversations,
    schedules,
    workItems,
    externalWorkers,
    callbacks,
    toolProtocol,
    destinations,
    telemetry,
    observability,
    llms,
    toolServers,
    runtime,
    application,
    replicas,
    sandbox,
    dataConnections,
    semanticDataModels,
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
  };
};
