// Generated from services/crawl/openapi.json: run "npm run generate-clients".
import type { Operation } from '../operation.js';

export const crawlOperations: Readonly<Record<CrawlOperationId, Operation>> = {
  "getSchedule": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/{connector}/schedule",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "id",
            "name",
            "data",
            "progress",
            "delay",
            "timestamp",
            "attemptsMade",
            "finishedOn",
            "processedOn",
            "failedReason",
            "state",
            "priority",
            "maxRetries",
            "timeout",
            "nextRunAt",
            "pausedAt",
            "overdueSince",
            "missedRuns"
          ],
          "properties": {
            "id": {
              "type": "string"
            },
            "name": {
              "type": "string"
            },
            "data": {
              "type": "object",
              "required": [
                "connector",
                "scheduleConfig",
                "orgId",
                "userId",
                "timestamp"
              ],
              "properties": {
                "connector": {
                  "type": "string"
                },
                "scheduleConfig": {
                  "anyOf": [
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "minute",
                        "interval",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "hourly"
                        },
                        "minute": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 59
                        },
                        "interval": {
                          "type": "integer",
                          "minimum": 1,
                          "maximum": 24,
                          "default": 1
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "hour",
                        "minute",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "daily"
                        },
                        "hour": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 23
                        },
                        "minute": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 59
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "daysOfWeek",
                        "hour",
                        "minute",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "weekly"
                        },
                        "daysOfWeek": {
                          "type": "array",
                          "items": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 6
                          },
                          "minItems": 1,
                          "maxItems": 7
                        },
                        "hour": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 23
                        },
                        "minute": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 59
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "dayOfMonth",
                        "hour",
                        "minute",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "monthly"
                        },
                        "dayOfMonth": {
                          "type": "integer",
                          "minimum": 1,
                          "maximum": 31
                        },
                        "hour": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 23
                        },
                        "minute": {
                          "type": "integer",
                          "minimum": 0,
                          "maximum": 59
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "cronExpression",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "custom"
                        },
                        "cronExpression": {
                          "type": "string",
                          "pattern": "^(\\S+\\s+){4}\\S+$",
                          "maxLength": 1000
                        },
                        "description": {
                          "type": "string",
                          "maxLength": 1000
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "required": [
                        "scheduleType",
                        "scheduledTime",
                        "isEnabled",
                        "timezone",
                        "jitterMs",
                        "missedRunPolicy"
                      ],
                      "properties": {
                        "scheduleType": {
                          "type": "string",
                          "const": "once"
                        },
                        "scheduledTime": {
                          "type": "string",
                          "format": "date-time",
                          "maxLength": 40,
                          "description": "With its offset."
                        },
                        "isEnabled": {
                          "type": "boolean",
                          "default": true
                        },
                        "timezone": {
                          "type": "string",
                          "default": "UTC",
                          "minLength": 1,
                          "maxLength": 64,
                          "description": "An IANA time zone."
                        },
                        "jitterMs": {
                          "type": "integer",
                          "default": 0,
                          "minimum": 0,
                          "maximum": 86400000,
                          "description": "Moves every run later by one fixed part of this, different for each organisation."
                        },
                        "missedRunPolicy": {
                          "type": "string",
                          "enum": [
                            "run_once",
                            "skip"
                          ],
                          "default": "run_once",
                          "description": "What happens to a run that could not start at its time: one late run, or none."
                        }
                      },
                      "additionalProperties": false
                    }
                  ],
                  "title": "ScheduleConfig"
                },
                "orgId": {
                  "type": "string"
                },
                "userId": {
                  "type": "string"
                },
                "timestamp": {
                  "type": "string",
                  "format": "date-time"
                },
                "metadata": {
                  "type": "object",
                  "additionalProperties": {}
                }
              }
            },
            "progress": {
              "type": "integer",
              "minimum": 0,
              "maximum": 100
            },
            "delay": {
              "anyOf": [
                {
                  "type": "integer"
                },
                {
                  "type": "null"
                }
              ]
            },
            "timestamp": {
              "type": "integer",
              "description": "Milliseconds since the epoch."
            },
            "attemptsMade": {
              "type": "integer"
            },
            "finishedOn": {
              "anyOf": [
                {
                  "type": "integer"
                },
                {
                  "type": "null"
                }
              ]
            },
            "processedOn": {
              "anyOf": [
                {
                  "type": "integer"
                },
                {
                  "type": "null"
                }
              ]
            },
            "failedReason": {
              "anyOf": [
                {
                  "type": "string"
                },
                {
                  "type": "null"
                }
              ]
            },
            "state": {
              "type": "string",
              "enum": [
                "waiting",
                "active",
                "completed",
                "failed",
                "delayed",
                "paused"
              ]
            },
            "priority": {
              "type": "integer"
            },
            "maxRetries": {
              "type": "integer"
            },
            "timeout": {
              "type": "integer"
            },
            "nextRunAt": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "date-time"
                },
                {
                  "type": "null"
                }
              ]
            },
            "pausedAt": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "date-time"
                },
                {
                  "type": "null"
                }
              ]
            },
            "overdueSince": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "date-time",
                  "description": "Set while an expected run has not started in time."
                },
                {
                  "type": "null"
                }
              ]
            },
            "missedRuns": {
              "type": "integer",
              "description": "Expected runs that did not happen at their time, since it was scheduled."
            }
          },
          "title": "CrawlJobStatus"
        }
      }
    }
  },
  "schedule": {
    "method": "POST",
    "path": "/api/v1/crawlingManager/{connector}/schedule",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "properties": {
        "scheduleConfig": {
          "anyOf": [
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "hourly"
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "interval": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 24,
                  "default": 1
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "daily"
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "weekly"
                },
                "daysOfWeek": {
                  "type": "array",
                  "items": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 6
                  },
                  "minItems": 1,
                  "maxItems": 7
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "daysOfWeek",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "monthly"
                },
                "dayOfMonth": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 31
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "dayOfMonth",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "custom"
                },
                "cronExpression": {
                  "type": "string",
                  "pattern": "^(\\S+\\s+){4}\\S+$",
                  "maxLength": 1000
                },
                "description": {
                  "type": "string",
                  "maxLength": 1000
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "cronExpression"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "once"
                },
                "scheduledTime": {
                  "type": "string",
                  "format": "date-time",
                  "maxLength": 40,
                  "description": "With its offset."
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "scheduledTime"
              ]
            }
          ],
          "title": "ScheduleConfigInput"
        },
        "priority": {
          "type": "integer",
          "minimum": 1,
          "maximum": 10,
          "default": 5,
          "description": "Passed to the connector's endpoint; runs start in the order in which they are due."
        },
        "maxRetries": {
          "type": "integer",
          "minimum": 0,
          "maximum": 10,
          "default": 3,
          "description": "After the first attempt."
        },
        "timeout": {
          "type": "integer",
          "minimum": 1000,
          "maximum": 600000,
          "default": 300000,
          "description": "Of one attempt, ms."
        },
        "metadata": {
          "type": "object",
          "additionalProperties": {}
        }
      },
      "additionalProperties": false,
      "required": [
        "scheduleConfig"
      ]
    },
    "status": 201,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "jobId",
            "connector",
            "scheduleConfig",
            "scheduledAt"
          ],
          "properties": {
            "jobId": {
              "type": "string"
            },
            "connector": {
              "type": "string"
            },
            "scheduleConfig": {
              "anyOf": [
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "minute",
                    "interval",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "hourly"
                    },
                    "minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 59
                    },
                    "interval": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 24,
                      "default": 1
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "hour",
                    "minute",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "daily"
                    },
                    "hour": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 23
                    },
                    "minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 59
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "daysOfWeek",
                    "hour",
                    "minute",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "weekly"
                    },
                    "daysOfWeek": {
                      "type": "array",
                      "items": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 6
                      },
                      "minItems": 1,
                      "maxItems": 7
                    },
                    "hour": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 23
                    },
                    "minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 59
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "dayOfMonth",
                    "hour",
                    "minute",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "monthly"
                    },
                    "dayOfMonth": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 31
                    },
                    "hour": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 23
                    },
                    "minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 59
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "cronExpression",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "custom"
                    },
                    "cronExpression": {
                      "type": "string",
                      "pattern": "^(\\S+\\s+){4}\\S+$",
                      "maxLength": 1000
                    },
                    "description": {
                      "type": "string",
                      "maxLength": 1000
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "required": [
                    "scheduleType",
                    "scheduledTime",
                    "isEnabled",
                    "timezone",
                    "jitterMs",
                    "missedRunPolicy"
                  ],
                  "properties": {
                    "scheduleType": {
                      "type": "string",
                      "const": "once"
                    },
                    "scheduledTime": {
                      "type": "string",
                      "format": "date-time",
                      "maxLength": 40,
                      "description": "With its offset."
                    },
                    "isEnabled": {
                      "type": "boolean",
                      "default": true
                    },
                    "timezone": {
                      "type": "string",
                      "default": "UTC",
                      "minLength": 1,
                      "maxLength": 64,
                      "description": "An IANA time zone."
                    },
                    "jitterMs": {
                      "type": "integer",
                      "default": 0,
                      "minimum": 0,
                      "maximum": 86400000,
                      "description": "Moves every run later by one fixed part of this, different for each organisation."
                    },
                    "missedRunPolicy": {
                      "type": "string",
                      "enum": [
                        "run_once",
                        "skip"
                      ],
                      "default": "run_once",
                      "description": "What happens to a run that could not start at its time: one late run, or none."
                    }
                  },
                  "additionalProperties": false
                }
              ],
              "title": "ScheduleConfig"
            },
            "scheduledAt": {
              "type": "string",
              "format": "date-time"
            }
          }
        }
      }
    }
  },
  "removeSchedule": {
    "method": "DELETE",
    "path": "/api/v1/crawlingManager/{connector}/schedule",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        }
      }
    }
  },
  "listSchedules": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/schedule/all",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "name",
              "data",
              "progress",
              "delay",
              "timestamp",
              "attemptsMade",
              "finishedOn",
              "processedOn",
              "failedReason",
              "state",
              "priority",
              "maxRetries",
              "timeout",
              "nextRunAt",
              "pausedAt",
              "overdueSince",
              "missedRuns"
            ],
            "properties": {
              "id": {
                "type": "string"
              },
              "name": {
                "type": "string"
              },
              "data": {
                "type": "object",
                "required": [
                  "connector",
                  "scheduleConfig",
                  "orgId",
                  "userId",
                  "timestamp"
                ],
                "properties": {
                  "connector": {
                    "type": "string"
                  },
                  "scheduleConfig": {
                    "anyOf": [
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "minute",
                          "interval",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "hourly"
                          },
                          "minute": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 59
                          },
                          "interval": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": 24,
                            "default": 1
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      },
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "hour",
                          "minute",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "daily"
                          },
                          "hour": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 23
                          },
                          "minute": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 59
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      },
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "daysOfWeek",
                          "hour",
                          "minute",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "weekly"
                          },
                          "daysOfWeek": {
                            "type": "array",
                            "items": {
                              "type": "integer",
                              "minimum": 0,
                              "maximum": 6
                            },
                            "minItems": 1,
                            "maxItems": 7
                          },
                          "hour": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 23
                          },
                          "minute": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 59
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      },
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "dayOfMonth",
                          "hour",
                          "minute",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "monthly"
                          },
                          "dayOfMonth": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": 31
                          },
                          "hour": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 23
                          },
                          "minute": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 59
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      },
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "cronExpression",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "custom"
                          },
                          "cronExpression": {
                            "type": "string",
                            "pattern": "^(\\S+\\s+){4}\\S+$",
                            "maxLength": 1000
                          },
                          "description": {
                            "type": "string",
                            "maxLength": 1000
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      },
                      {
                        "type": "object",
                        "required": [
                          "scheduleType",
                          "scheduledTime",
                          "isEnabled",
                          "timezone",
                          "jitterMs",
                          "missedRunPolicy"
                        ],
                        "properties": {
                          "scheduleType": {
                            "type": "string",
                            "const": "once"
                          },
                          "scheduledTime": {
                            "type": "string",
                            "format": "date-time",
                            "maxLength": 40,
                            "description": "With its offset."
                          },
                          "isEnabled": {
                            "type": "boolean",
                            "default": true
                          },
                          "timezone": {
                            "type": "string",
                            "default": "UTC",
                            "minLength": 1,
                            "maxLength": 64,
                            "description": "An IANA time zone."
                          },
                          "jitterMs": {
                            "type": "integer",
                            "default": 0,
                            "minimum": 0,
                            "maximum": 86400000,
                            "description": "Moves every run later by one fixed part of this, different for each organisation."
                          },
                          "missedRunPolicy": {
                            "type": "string",
                            "enum": [
                              "run_once",
                              "skip"
                            ],
                            "default": "run_once",
                            "description": "What happens to a run that could not start at its time: one late run, or none."
                          }
                        },
                        "additionalProperties": false
                      }
                    ],
                    "title": "ScheduleConfig"
                  },
                  "orgId": {
                    "type": "string"
                  },
                  "userId": {
                    "type": "string"
                  },
                  "timestamp": {
                    "type": "string",
                    "format": "date-time"
                  },
                  "metadata": {
                    "type": "object",
                    "additionalProperties": {}
                  }
                }
              },
              "progress": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100
              },
              "delay": {
                "anyOf": [
                  {
                    "type": "integer"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "timestamp": {
                "type": "integer",
                "description": "Milliseconds since the epoch."
              },
              "attemptsMade": {
                "type": "integer"
              },
              "finishedOn": {
                "anyOf": [
                  {
                    "type": "integer"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "processedOn": {
                "anyOf": [
                  {
                    "type": "integer"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "failedReason": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "state": {
                "type": "string",
                "enum": [
                  "waiting",
                  "active",
                  "completed",
                  "failed",
                  "delayed",
                  "paused"
                ]
              },
              "priority": {
                "type": "integer"
              },
              "maxRetries": {
                "type": "integer"
              },
              "timeout": {
                "type": "integer"
              },
              "nextRunAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "pausedAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "overdueSince": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time",
                    "description": "Set while an expected run has not started in time."
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "missedRuns": {
                "type": "integer",
                "description": "Expected runs that did not happen at their time, since it was scheduled."
              }
            },
            "title": "CrawlJobStatus"
          }
        }
      }
    }
  },
  "removeAllSchedules": {
    "method": "DELETE",
    "path": "/api/v1/crawlingManager/schedule/all",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        }
      }
    }
  },
  "pause": {
    "method": "POST",
    "path": "/api/v1/crawlingManager/{connector}/pause",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "connector",
            "orgId",
            "pausedAt"
          ],
          "properties": {
            "connector": {
              "type": "string"
            },
            "orgId": {
              "type": "string"
            },
            "pausedAt": {
              "type": "string",
              "format": "date-time"
            }
          }
        }
      }
    }
  },
  "resume": {
    "method": "POST",
    "path": "/api/v1/crawlingManager/{connector}/resume",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "connector",
            "orgId",
            "resumedAt"
          ],
          "properties": {
            "connector": {
              "type": "string"
            },
            "orgId": {
              "type": "string"
            },
            "resumedAt": {
              "type": "string",
              "format": "date-time"
            }
          }
        }
      }
    }
  },
  "listNextRuns": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/{connector}/next-runs",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "query": {
      "type": "object",
      "properties": {
        "count": {
          "type": "integer",
          "minimum": 1,
          "maximum": 50,
          "default": 10
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "connector",
            "timezone",
            "nextRuns"
          ],
          "properties": {
            "connector": {
              "type": "string"
            },
            "timezone": {
              "type": "string"
            },
            "nextRuns": {
              "type": "array",
              "items": {
                "type": "object",
                "required": [
                  "at",
                  "localTime"
                ],
                "properties": {
                  "at": {
                    "type": "string",
                    "format": "date-time",
                    "description": "UTC."
                  },
                  "localTime": {
                    "type": "string",
                    "description": "In the schedule's zone, with its offset."
                  }
                }
              }
            }
          },
          "title": "NextRuns"
        }
      }
    }
  },
  "previewSchedule": {
    "method": "POST",
    "path": "/api/v1/crawlingManager/{connector}/preview",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "query": {
      "type": "object",
      "properties": {
        "count": {
          "type": "integer",
          "minimum": 1,
          "maximum": 50,
          "default": 10
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "required": [
        "scheduleConfig"
      ],
      "properties": {
        "scheduleConfig": {
          "anyOf": [
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "hourly"
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "interval": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 24,
                  "default": 1
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "daily"
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "weekly"
                },
                "daysOfWeek": {
                  "type": "array",
                  "items": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 6
                  },
                  "minItems": 1,
                  "maxItems": 7
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "daysOfWeek",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "monthly"
                },
                "dayOfMonth": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 31
                },
                "hour": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 23
                },
                "minute": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 59
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "dayOfMonth",
                "hour",
                "minute"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "custom"
                },
                "cronExpression": {
                  "type": "string",
                  "pattern": "^(\\S+\\s+){4}\\S+$",
                  "maxLength": 1000
                },
                "description": {
                  "type": "string",
                  "maxLength": 1000
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "cronExpression"
              ]
            },
            {
              "type": "object",
              "properties": {
                "scheduleType": {
                  "type": "string",
                  "const": "once"
                },
                "scheduledTime": {
                  "type": "string",
                  "format": "date-time",
                  "maxLength": 40,
                  "description": "With its offset."
                },
                "isEnabled": {
                  "type": "boolean",
                  "default": true
                },
                "timezone": {
                  "type": "string",
                  "default": "UTC",
                  "minLength": 1,
                  "maxLength": 64,
                  "description": "An IANA time zone."
                },
                "jitterMs": {
                  "type": "integer",
                  "default": 0,
                  "minimum": 0,
                  "maximum": 86400000,
                  "description": "Moves every run later by one fixed part of this, different for each organisation."
                },
                "missedRunPolicy": {
                  "type": "string",
                  "enum": [
                    "run_once",
                    "skip"
                  ],
                  "default": "run_once",
                  "description": "What happens to a run that could not start at its time: one late run, or none."
                }
              },
              "additionalProperties": false,
              "required": [
                "scheduleType",
                "scheduledTime"
              ]
            }
          ],
          "title": "ScheduleConfigInput"
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "connector",
            "timezone",
            "nextRuns"
          ],
          "properties": {
            "connector": {
              "type": "string"
            },
            "timezone": {
              "type": "string"
            },
            "nextRuns": {
              "type": "array",
              "items": {
                "type": "object",
                "required": [
                  "at",
                  "localTime"
                ],
                "properties": {
                  "at": {
                    "type": "string",
                    "format": "date-time",
                    "description": "UTC."
                  },
                  "localTime": {
                    "type": "string",
                    "description": "In the schedule's zone, with its offset."
                  }
                }
              }
            }
          },
          "title": "NextRuns"
        }
      }
    }
  },
  "runNow": {
    "method": "POST",
    "path": "/api/v1/crawlingManager/{connector}/run",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "status": 202,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "runId",
            "connector",
            "requestedAt"
          ],
          "properties": {
            "runId": {
              "type": "string",
              "format": "uuid"
            },
            "connector": {
              "type": "string"
            },
            "requestedAt": {
              "type": "string",
              "format": "date-time"
            }
          },
          "title": "RequestedRun"
        }
      }
    }
  },
  "listRuns": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/{connector}/runs",
    "pathParameters": {
      "type": "object",
      "required": [
        "connector"
      ],
      "properties": {
        "connector": {
          "type": "string",
          "description": "One of mail_1, mail_2, files_1, files_2, files_3, files_4, files_5, wiki_1, chat_1, issues_1, issues_2, suite_1, code_1, objects_1, cloud_1, db_1, support_1, support_2. Case does not count, spaces are dropped."
        }
      },
      "additionalProperties": false
    },
    "query": {
      "type": "object",
      "properties": {
        "page": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000000,
          "default": 1
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 20
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data",
        "pagination"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "runId",
              "connector",
              "trigger",
              "outcome",
              "scheduledFor",
              "startedAt",
              "finishedAt",
              "attempts",
              "progress",
              "reason",
              "eventId"
            ],
            "properties": {
              "runId": {
                "type": "string",
                "format": "uuid"
              },
              "connector": {
                "type": "string"
              },
              "trigger": {
                "type": "string",
                "enum": [
                  "schedule",
                  "manual",
                  "missed"
                ],
                "description": "`missed`: run late by the watchdog, in place of a run that did not happen."
              },
              "outcome": {
                "type": "string",
                "enum": [
                  "waiting",
                  "active",
                  "retrying",
                  "completed",
                  "failed",
                  "aborted",
                  "skipped"
                ]
              },
              "scheduledFor": {
                "type": "string",
                "format": "date-time"
              },
              "startedAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "finishedAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "attempts": {
                "type": "integer"
              },
              "progress": {
                "type": "integer"
              },
              "reason": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "Why it failed, was aborted or skipped, or what it waits for."
              },
              "eventId": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "uuid"
                  },
                  {
                    "type": "null"
                  }
                ]
              }
            },
            "title": "CrawlRun"
          }
        },
        "pagination": {
          "type": "object",
          "required": [
            "page",
            "limit",
            "total",
            "totalPages"
          ],
          "properties": {
            "page": {
              "type": "integer"
            },
            "limit": {
              "type": "integer"
            },
            "total": {
              "type": "integer"
            },
            "totalPages": {
              "type": "integer"
            }
          }
        }
      }
    }
  },
  "getStatistics": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/stats",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "object",
          "required": [
            "waiting",
            "active",
            "completed",
            "failed",
            "delayed",
            "paused",
            "repeatable",
            "total"
          ],
          "properties": {
            "waiting": {
              "type": "integer"
            },
            "active": {
              "type": "integer"
            },
            "completed": {
              "type": "integer",
              "description": "Runs, ever."
            },
            "failed": {
              "type": "integer",
              "description": "Runs, ever."
            },
            "delayed": {
              "type": "integer",
              "description": "Jobs whose next run, or next attempt, is later."
            },
            "paused": {
              "type": "integer"
            },
            "repeatable": {
              "type": "integer",
              "description": "Recurring schedules that are not paused."
            },
            "total": {
              "type": "integer",
              "description": "All of these but `repeatable`."
            }
          },
          "title": "QueueStatistics"
        }
      }
    }
  },
  "listConnectors": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/connectors",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "connector",
              "kind",
              "eventType"
            ],
            "properties": {
              "connector": {
                "type": "string",
                "description": "The identifier."
              },
              "kind": {
                "type": "string",
                "description": "What it connects to."
              },
              "eventType": {
                "type": "string",
                "description": "The sync event of a completed crawl."
              }
            },
            "title": "Connector"
          }
        }
      }
    }
  },
  "listEvents": {
    "method": "GET",
    "path": "/api/v1/crawlingManager/events",
    "query": {
      "type": "object",
      "properties": {
        "after": {
          "type": "string",
          "maxLength": 200,
          "description": "The `nextCursor` of an earlier page."
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000,
          "default": 100
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "success",
        "message",
        "data",
        "nextCursor",
        "hasMore"
      ],
      "properties": {
        "success": {
          "type": "boolean",
          "const": true
        },
        "message": {
          "type": "string"
        },
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "eventId",
              "eventType",
              "timestamp",
              "payload"
            ],
            "properties": {
              "eventId": {
                "type": "string"
              },
              "eventType": {
                "type": "string"
              },
              "timestamp": {
                "type": "integer"
              },
              "payload": {
                "type": "object",
                "additionalProperties": {
                  "type": "string"
                }
              }
            },
            "title": "SyncEvent"
          }
        },
        "nextCursor": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "hasMore": {
          "type": "boolean"
        }
      }
    }
  }
};

type CrawlOperationId =
  | 'getSchedule'
  | 'schedule'
  | 'removeSchedule'
  | 'listSchedules'
  | 'removeAllSchedules'
  | 'pause'
  | 'resume'
  | 'listNextRuns'
  | 'previewSchedule'
  | 'runNow'
  | 'listRuns'
  | 'getStatistics'
  | 'listConnectors'
  | 'listEvents';
