import type { OperationId, ReadId } from './operations.ts';

const versions = [
  'listAgentVersions',
  'listAgentPublications',
  'getAgentPublication',
  'getAgentVersion',
] as const;
const agents = ['listAgentSummaries', 'getAgentOverview', 'getAgent', ...versions] as const;
const conversation = ['getConversationDetail', 'listConversations', 'getReview'] as const;
const schedules = [
  ...['findSchedule', 'getSchedule', 'listAllSchedules', 'getScheduleTimeline', 'listOccurrences'],
  ...['explainSchedule', 'listScheduleVersions'],
] as const;
const triggers = [
  ...['getTrigger', 'listTriggers', 'listAllTriggers', 'listTriggerEvents', 'getTriggerEvent'],
  ...['explainTrigger', 'listTriggerVersions'],
] as const;
const workItems = [
  ...['searchWorkItems', 'countNewerWorkItems', 'getWorkItem', 'getWorkItemDetail', 'listShownMessages'],
  ...['listWorkItemSteps', 'listWorkItemEvents', 'listWorkItems', 'getBulkAction', 'getReview'],
] as const;
/** Reads that show schedules, and the Work Items that they make. */
const aroundSchedules = [...schedules, ...agents, ...workItems, 'getOverview'] as const;
/** Reads that show triggers, and the Work Items that they make. */
const aroundTriggers = [...triggers, ...agents, ...workItems, 'getOverview'] as const;
/** Reads that show Work Items, and the count of Review. */
const aroundWorkItems = [...workItems, 'getMe'] as const;
const integrations = ['listIntegrations', 'getIntegration', 'listIntegrationHistory'] as const;
const llms = ['listUsedLlmConfigurations', 'getUsedLlmConfiguration', 'listLlmConfigurations'] as const;
const traces = ['listTraces', 'getTrace', 'getTraceStore'] as const;
const budgets = ['listBudgets', 'getBudget', 'listBudgetPeriods', 'listBudgetWaits', 'getOverview'] as const;
const prices = ['listPrices', 'listUnpricedModels'] as const;
const toolServers = ['listUsedToolServers', 'getUsedToolServer', 'getToolServerHost', 'listTools'] as const;
const connections = [
  ...['listDataConnections', 'getDataConnection', 'listDataConnectionTables', 'previewDataConnectionTable'],
] as const;
const eventConnections = ['listEventConnections', 'getEventConnection'] as const;
const alerts = ['listAlerts', 'getAlert', 'getMe', 'getOverview'] as const;
const alertRules = ['listNamedAlertRules', 'getNamedAlertRule', ...alerts] as const;
const channels = ['listChannels', 'getChannel', 'getOverview'] as const;
const routes = ['listRoutes', 'getRoute'] as const;
const models = ['listSemanticDataModels', 'getSemanticDataModel'] as const;
const extractions = ['listExtractions', 'getExtraction'] as const;
const keys = ['listNamedApiKeys'] as const;
const mappings = ['listRoleMappings', 'listUsers'] as const;
const branding = ['getBranding', 'getMe'] as const;
const conversationFiles = ['listConversationFiles'] as const;
const workItemFiles = ['listWorkItemFiles'] as const;
const conversationFrames = ['listConversationDataFrames', 'getConversationDataFrame'] as const;
const workItemFrames = ['listWorkItemDataFrames', 'getWorkItemDataFrame'] as const;
const datasets = ['listDatasets', 'getDataset', 'listCases', 'getCase'] as const;
const trials = [
  'listNamedExperiments',
  'getNamedExperiment',
  'listExperimentCases',
  'getTrialDetail',
] as const;
const experiments = [...trials, 'compareExperiments', 'getLabelQueue', 'listJudges'] as const;
/** A test, a preview or a question changes nothing. */
const nothing = [] as const;

/** Reads that are repeated after each change. An operation that is not here cannot be given to `perform`. */
export const changes = {
  createAgent: agents,
  updateAgent: agents,
  deleteAgent: 'everything',
  discardAgentDraft: agents,
  publishAgent: agents,
  cancelAgentPublication: agents,
  rollBackAgent: agents,
  startCanary: agents,
  promoteCanary: agents,
  abortCanary: agents,

  createDataset: datasets,
  updateDataset: datasets,
  deleteDataset: [...datasets, ...experiments],
  createCase: datasets,
  updateCase: datasets,
  deleteCase: datasets,
  importCases: datasets,
  // A draft becomes a version.
  createExperiment: [...experiments, ...agents],
  cancelExperiment: experiments,
  deleteExperiment: experiments,
  // Who labels keeps the queue that they began with.
  labelTrial: [...trials, 'listJudges'],
  removeLabel: [...trials, 'listJudges'],

  createConversation: [...conversation, ...agents],
  updateConversation: conversation,
  deleteConversation: [...conversation, ...agents],
  sendMessage: conversation,
  cancelRun: conversation,

  createTrigger: aroundTriggers,
  replaceTrigger: aroundTriggers,
  deleteTrigger: aroundTriggers,
  pauseTrigger: aroundTriggers,
  resumeTrigger: aroundTriggers,
  rotateTriggerSecret: aroundTriggers,
  redeliverTriggerEvents: aroundTriggers,
  tryTrigger: nothing,
  createSchedule: aroundSchedules,
  replaceSchedule: aroundSchedules,
  deleteSchedule: aroundSchedules,
  pauseSchedule: aroundSchedules,
  resumeSchedule: aroundSchedules,
  runSchedule: aroundSchedules,
  actOnSchedules: aroundSchedules,

  createWorkItem: aroundWorkItems,
  updateWorkItem: aroundWorkItems,
  deleteWorkItem: aroundWorkItems,
  submitWorkItem: aroundWorkItems,
  continueWorkItem: aroundWorkItems,
  restartWorkItem: aroundWorkItems,
  cancelWorkItem: aroundWorkItems,
  completeWorkItem: aroundWorkItems,
  startBulkAction: aroundWorkItems,
  cancelBulkAction: aroundWorkItems,

  createIntegration: integrations,
  updateIntegration: integrations,
  switchIntegration: integrations,
  testIntegration: integrations,
  testObservabilitySettings: nothing,
  deleteObservabilityIntegration: integrations,
  createObservabilityScope: integrations,
  deleteObservabilityScope: integrations,
  retryDeadLetters: [...integrations, 'listDeadLetters'],
  purgeDeadLetters: [...integrations, 'listDeadLetters'],

  createLlmConfiguration: llms,
  updateLlmConfiguration: [...llms, 'listUnpricedModels'],
  deleteLlmConfiguration: llms,
  testLlmConfiguration: nothing,
  setLlmDefaults: 'everything',

  createBudget: budgets,
  updateBudget: budgets,
  deleteBudget: budgets,
  createPrice: prices,
  updatePrice: prices,
  deletePrice: prices,
  deleteTraces: traces,

  createToolServer: toolServers,
  updateToolServer: toolServers,
  deleteToolServer: toolServers,
  testToolServer: toolServers,
  updateTool: toolServers,
  acceptTool: toolServers,

  createEventConnection: eventConnections,
  updateEventConnection: eventConnections,
  deleteEventConnection: [...eventConnections, ...triggers],
  testEventConnection: nothing,
  testEventConnectionSettings: nothing,
  acknowledgeAlert: alerts,
  createAlertRule: alertRules,
  updateAlertRule: alertRules,
  deleteAlertRule: alertRules,
  createChannel: channels,
  updateChannel: channels,
  deleteChannel: channels,
  // Messages of alerts are due after a good test.
  testChannel: [...channels, 'getAlert'],
  createRoute: routes,
  updateRoute: routes,
  deleteRoute: routes,
  createDataConnection: connections,
  updateDataConnection: connections,
  deleteDataConnection: [...connections, ...models],
  testDataConnection: connections,
  testDataConnectionSettings: nothing,
  previewDataConnectionTable: nothing,

  createSemanticDataModel: models,
  importSemanticDataModel: models,
  replaceSemanticDataModel: models,
  deleteSemanticDataModel: models,
  scaffoldSemanticDataModel: nothing,
  validateSemanticDataModel: models,
  validateSemanticDataModelBody: nothing,
  querySemanticDataModel: nothing,

  createConversationFile: conversationFiles,
  deleteConversationFile: conversationFiles,
  createWorkItemFile: workItemFiles,
  deleteWorkItemFile: workItemFiles,
  createConversationDataFrame: conversationFrames,
  queryConversationDataFrames: conversationFrames,
  deleteConversationDataFrame: conversationFrames,
  createWorkItemDataFrame: workItemFrames,
  queryWorkItemDataFrames: workItemFrames,
  deleteWorkItemDataFrame: workItemFrames,

  putDocumentIntelligence: ['getDocumentIntelligence'],
  deleteDocumentIntelligence: ['getDocumentIntelligence'],
  testDocumentIntelligence: nothing,
  createExtraction: extractions,
  deleteExtraction: extractions,

  inviteUser: ['listUsers'],
  updateUser: ['listUsers', ...keys, 'getMe'],
  deleteUser: ['listUsers', ...keys, 'getMe'],
  createRoleMapping: mappings,
  updateRoleMapping: mappings,
  deleteRoleMapping: mappings,
  previewRoleMappings: nothing,
  createApiKey: keys,
  rotateApiKey: keys,
  deleteApiKey: [...keys, 'getMe'],

  updateAdvancedSettings: ['getAdvancedSettings', 'getMe'],
  updateBranding: branding,
  createSession: nothing,
  signOut: nothing,
} as const satisfies {
  [O in OperationId]?: readonly (ReadId | 'previewDataConnectionTable')[] | 'everything';
};

export type ChangeId = keyof typeof changes;
