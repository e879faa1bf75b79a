// Generated from services/crawl/openapi.json: run "npm run generate-clients".
export interface paths {
    "/api/v1/crawlingManager/{connector}/schedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The connector's current or next run */
        get: operations["getSchedule"];
        put?: never;
        /** Schedule a connector, or replace its schedule */
        post: operations["schedule"];
        /** Remove a schedule; a run in progress is aborted */
        delete: operations["removeSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/schedule/all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All of the organisation's, by connector */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        /** Remove all of the organisation's schedules; a failure names those that are left */
        delete: operations["removeAllSchedules"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a schedule; a run in progress is aborted */
        post: operations["pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused schedule, from its next time on */
        post: operations["resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/next-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** When the schedule runs next, in UTC and in its zone */
        get: operations["listNextRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** When a configuration that is not saved would run */
        post: operations["previewSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a scheduled connector now, beside its schedule */
        post: operations["runNow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/{connector}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The history of runs, newest first */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts of the organisation's jobs and runs */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All connectors that can be crawled */
        get: operations["listConnectors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crawlingManager/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The organisation's sync events, oldest first */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** ScheduleConfig */
        ScheduleConfig: {
            /** @constant */
            scheduleType: "hourly";
            minute: number;
            /** @default 1 */
            interval: number;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "daily";
            hour: number;
            minute: number;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "weekly";
            daysOfWeek: number[];
            hour: number;
            minute: number;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "monthly";
            dayOfMonth: number;
            hour: number;
            minute: number;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "custom";
            cronExpression: string;
            description?: string;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "once";
            /**
             * Format: date-time
             * @description With its offset.
             */
            scheduledTime: string;
            /** @default true */
            isEnabled: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy: "run_once" | "skip";
        };
        /** CrawlJobStatus */
        CrawlJobStatus: {
            id: string;
            name: string;
            data: {
                connector: string;
                scheduleConfig: components["schemas"]["ScheduleConfig"];
                orgId: string;
                userId: string;
                /** Format: date-time */
                timestamp: string;
                metadata?: {
                    [key: string]: unknown;
                };
            };
            progress: number;
            delay: number | null;
            /** @description Milliseconds since the epoch. */
            timestamp: number;
            attemptsMade: number;
            finishedOn: number | null;
            processedOn: number | null;
            failedReason: string | null;
            /** @enum {string} */
            state: "waiting" | "active" | "completed" | "failed" | "delayed" | "paused";
            priority: number;
            maxRetries: number;
            timeout: number;
            nextRunAt: string | null;
            pausedAt: string | null;
            overdueSince: string | null;
            /** @description Expected runs that did not happen at their time, since it was scheduled. */
            missedRuns: number;
        };
        /** Error */
        Error: {
            /** @constant */
            success: false;
            message: string;
            error?: {
                code: string;
                details?: string;
            };
        };
        /** NoSchedule */
        NoSchedule: {
            /** @constant */
            success: false;
            message: string;
            data: null;
        };
        /** ScheduleConfigInput */
        ScheduleConfigInput: {
            /** @constant */
            scheduleType: "hourly";
            minute: number;
            /** @default 1 */
            interval?: number;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "daily";
            hour: number;
            minute: number;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "weekly";
            daysOfWeek: number[];
            hour: number;
            minute: number;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "monthly";
            dayOfMonth: number;
            hour: number;
            minute: number;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "custom";
            cronExpression: string;
            description?: string;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        } | {
            /** @constant */
            scheduleType: "once";
            /**
             * Format: date-time
             * @description With its offset.
             */
            scheduledTime: string;
            /** @default true */
            isEnabled?: boolean;
            /**
             * @description An IANA time zone.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description Moves every run later by one fixed part of this, different for each organisation.
             * @default 0
             */
            jitterMs?: number;
            /**
             * @description What happens to a run that could not start at its time: one late run, or none.
             * @default run_once
             * @enum {string}
             */
            missedRunPolicy?: "run_once" | "skip";
        };
        /** NextRuns */
        NextRuns: {
            connector: string;
            timezone: string;
            nextRuns: {
                /**
                 * Format: date-time
                 * @description UTC.
                 */
                at: string;
                /** @description In the schedule's zone, with its offset. */
                localTime: string;
            }[];
        };
        /** RequestedRun */
        RequestedRun: {
            /** Format: uuid */
            runId: string;
            connector: string;
            /** Format: date-time */
            requestedAt: string;
        };
        /** CrawlRun */
        CrawlRun: {
            /** Format: uuid */
            runId: string;
            connector: string;
            /**
             * @description `missed`: run late by the watchdog, in place of a run that did not happen.
             * @enum {string}
             */
            trigger: "schedule" | "manual" | "missed";
            /** @enum {string} */
            outcome: "waiting" | "active" | "retrying" | "completed" | "failed" | "aborted" | "skipped";
            /** Format: date-time */
            scheduledFor: string;
            startedAt: string | null;
            finishedAt: string | null;
            attempts: number;
            progress: number;
            /** @description Why it failed, was aborted or skipped, or what it waits for. */
            reason: string | null;
            eventId: string | null;
        };
        /** QueueStatistics */
        QueueStatistics: {
            waiting: number;
            active: number;
            /** @description Runs, ever. */
            completed: number;
            /** @description Runs, ever. */
            failed: number;
            /** @description Jobs whose next run, or next attempt, is later. */
            delayed: number;
            paused: number;
            /** @description Recurring schedules that are not paused. */
            repeatable: number;
            /** @description All of these but `repeatable`. */
            total: number;
        };
        /** Connector */
        Connector: {
            /** @description The identifier. */
            connector: string;
            /** @description What it connects to. */
            kind: string;
            /** @description The sync event of a completed crawl. */
            eventType: string;
        };
        /** SyncEvent */
        SyncEvent: {
            eventId: string;
            eventType: string;
            timestamp: number;
            payload: {
                [key: string]: string;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["CrawlJobStatus"];
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoSchedule"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    scheduleConfig: components["schemas"]["ScheduleConfigInput"];
                    /**
                     * @description Passed to the connector's endpoint; runs start in the order in which they are due.
                     * @default 5
                     */
                    priority?: number;
                    /**
                     * @description After the first attempt.
                     * @default 3
                     */
                    maxRetries?: number;
                    /**
                     * @description Of one attempt, ms.
                     * @default 300000
                     */
                    timeout?: number;
                    metadata?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: {
                            jobId: string;
                            connector: string;
                            scheduleConfig: components["schemas"]["ScheduleConfig"];
                            /** Format: date-time */
                            scheduledAt: string;
                        };
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["CrawlJobStatus"][];
                    };
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeAllSchedules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: {
                            connector: string;
                            orgId: string;
                            /** Format: date-time */
                            pausedAt: string;
                        };
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: {
                            connector: string;
                            orgId: string;
                            /** Format: date-time */
                            resumedAt: string;
                        };
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listNextRuns: {
        parameters: {
            query?: {
                count?: number;
            };
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["NextRuns"];
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoSchedule"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    previewSchedule: {
        parameters: {
            query?: {
                count?: number;
            };
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    scheduleConfig: components["schemas"]["ScheduleConfigInput"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["NextRuns"];
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    runNow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["RequestedRun"];
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoSchedule"];
                };
            };
            /** @description Request Timeout */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
            };
            header?: never;
            path: {
                /** @description One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped. */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["CrawlRun"][];
                        pagination: {
                            page: number;
                            limit: number;
                            total: number;
                            totalPages: number;
                        };
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["QueueStatistics"];
                    };
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listConnectors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["Connector"][];
                    };
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of an earlier page. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        message: string;
                        data: components["schemas"]["SyncEvent"][];
                        nextCursor: string | null;
                        hasMore: boolean;
                    };
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
