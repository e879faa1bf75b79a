// Generated from services/mail/openapi.json: run "npm run generate-clients".
import type { Operation } from '../operation.js';

export const mailOperations: Readonly<Record<MailOperationId, Operation>> = {
  "sendEmail": {
    "method": "POST",
    "path": "/api/v1/mail/emails/sendEmail",
    "headers": {
      "type": "object",
      "properties": {
        "idempotency-key": {
          "type": "string",
          "description": "The same key and body within 24 hours answer the first result again and send nothing."
        },
        "prefer": {
          "type": "string",
          "description": "`respond-async` (RFC 7240): 202 when the outcome is not known yet, after `wait=<seconds>` or at once. `wait` alone: the latest that the outcome is answered, whatever it is."
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "required": [
        "emailTemplateType",
        "sendEmailTo",
        "subject",
        "templateData"
      ],
      "properties": {
        "emailTemplateType": {
          "type": "string",
          "enum": [
            "loginWithOTP",
            "resetPassword",
            "accountCreation",
            "appuserInvite",
            "suspiciousLoginAttempt"
          ]
        },
        "sendEmailTo": {
          "type": "array",
          "items": {
            "type": "string",
            "maxLength": 320
          },
          "minItems": 1,
          "maxItems": 50
        },
        "subject": {
          "type": "string",
          "minLength": 1,
          "maxLength": 500
        },
        "templateData": {
          "type": "object",
          "additionalProperties": true,
          "description": "Values of the template: `userName`, `companyName`, `otp`, `resetLink`, `inviteLink` and others; see the README."
        },
        "sendCcTo": {
          "type": "array",
          "items": {
            "type": "string",
            "maxLength": 320
          },
          "maxItems": 50
        },
        "attachments": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "filename",
              "content",
              "contentType"
            ],
            "properties": {
              "filename": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255
              },
              "content": {
                "type": "string",
                "description": "Base64 (RFC 4648 §4). At most 25 MiB for all attachments, decoded."
              },
              "contentType": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "description": "Such as `text/plain`."
              }
            },
            "additionalProperties": false
          },
          "maxItems": 10
        },
        "fromEmailDomain": {
          "type": "string",
          "maxLength": 253,
          "description": "Replaces the domain of the configured sender's address."
        },
        "productName": {
          "type": "string",
          "maxLength": 200,
          "description": "The brand in the template."
        },
        "isAutoEmail": {
          "type": "boolean",
          "description": "Sets `Auto-Submitted: auto-generated` (RFC 3834)."
        }
      },
      "additionalProperties": false,
      "title": "MailBody"
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data"
      ],
      "properties": {
        "data": {
          "type": "object",
          "required": [
            "status",
            "data"
          ],
          "properties": {
            "status": {
              "type": "boolean"
            },
            "data": {
              "type": "string",
              "description": "A confirmation; it names the recipients that the server refused."
            }
          }
        }
      }
    }
  },
  "updateSmtpConfig": {
    "method": "POST",
    "path": "/api/v1/mail/updateSmtpConfig",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "smtp"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "smtp": {
          "type": "object",
          "required": [
            "host",
            "port",
            "fromEmail"
          ],
          "properties": {
            "host": {
              "type": "string"
            },
            "port": {
              "type": "integer"
            },
            "fromEmail": {
              "type": "string"
            },
            "username": {
              "type": "string"
            }
          }
        }
      }
    }
  },
  "listMailRecords": {
    "method": "GET",
    "path": "/api/v1/mail/records",
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
        },
        "state": {
          "type": "string",
          "enum": [
            "sent",
            "failed",
            "unknown",
            "pending",
            "any"
          ],
          "description": "Default `sent`."
        },
        "recipient": {
          "type": "string",
          "minLength": 3,
          "maxLength": 320,
          "description": "An address in To or Cc."
        },
        "emailTemplateType": {
          "type": "string",
          "maxLength": 100
        },
        "since": {
          "type": "string",
          "format": "date-time"
        },
        "until": {
          "type": "string",
          "format": "date-time",
          "description": "Not included."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data",
        "pagination"
      ],
      "properties": {
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "orgId",
              "subject",
              "from",
              "to",
              "cc",
              "refused",
              "emailTemplateType",
              "state",
              "canResend",
              "failure",
              "createdAt",
              "updatedAt"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "orgId": {
                "type": "string",
                "format": "uuid"
              },
              "subject": {
                "type": "string"
              },
              "from": {
                "type": "string"
              },
              "to": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "cc": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "refused": {
                "type": "array",
                "items": {
                  "type": "string"
                },
                "description": "Recipients that the SMTP server refused."
              },
              "emailTemplateType": {
                "type": "string"
              },
              "state": {
                "type": "string",
                "description": "`pending`, `sent`, `failed` or `unknown`: it may have arrived."
              },
              "canResend": {
                "type": "boolean",
                "description": "Whether it failed or is unknown, and can be sent again as it was."
              },
              "failure": {
                "anyOf": [
                  {
                    "type": "object",
                    "required": [
                      "kind",
                      "code",
                      "message"
                    ],
                    "properties": {
                      "kind": {
                        "type": "string",
                        "description": "`permanent`: the server will never take this mail. `temporary`: it may, later."
                      },
                      "code": {
                        "type": "string"
                      },
                      "reply": {
                        "type": "integer",
                        "description": "The SMTP reply code."
                      },
                      "status": {
                        "type": "string",
                        "description": "The enhanced status code (RFC 3463), such as `5.1.1`."
                      },
                      "message": {
                        "type": "string"
                      }
                    },
                    "title": "MailFailure"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "Why it failed or is unknown, where that is known."
              },
              "createdAt": {
                "type": "string",
                "format": "date-time"
              },
              "updatedAt": {
                "type": "string",
                "format": "date-time"
              }
            },
            "title": "MailRecord"
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
  "eraseMailRecipient": {
    "method": "DELETE",
    "path": "/api/v1/mail/records",
    "query": {
      "type": "object",
      "required": [
        "recipient"
      ],
      "properties": {
        "recipient": {
          "type": "string",
          "minLength": 3,
          "maxLength": 320,
          "description": "An address in To or Cc."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "deleted",
        "changed",
        "pending"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "deleted": {
          "type": "integer",
          "description": "Mails to this recipient alone."
        },
        "changed": {
          "type": "integer",
          "description": "Mails to others as well: they keep everything but the address."
        },
        "pending": {
          "type": "integer",
          "description": "Mails under way: the recipient is erased as soon as they end."
        }
      }
    }
  },
  "getMailRecord": {
    "method": "GET",
    "path": "/api/v1/mail/records/{id}",
    "pathParameters": {
      "type": "object",
      "required": [
        "id"
      ],
      "properties": {
        "id": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data"
      ],
      "properties": {
        "data": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "subject",
            "from",
            "to",
            "cc",
            "refused",
            "emailTemplateType",
            "state",
            "canResend",
            "failure",
            "createdAt",
            "updatedAt"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "subject": {
              "type": "string"
            },
            "from": {
              "type": "string"
            },
            "to": {
              "type": "array",
              "items": {
                "type": "string"
              }
            },
            "cc": {
              "type": "array",
              "items": {
                "type": "string"
              }
            },
            "refused": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Recipients that the SMTP server refused."
            },
            "emailTemplateType": {
              "type": "string"
            },
            "state": {
              "type": "string",
              "description": "`pending`, `sent`, `failed` or `unknown`: it may have arrived."
            },
            "canResend": {
              "type": "boolean",
              "description": "Whether it failed or is unknown, and can be sent again as it was."
            },
            "failure": {
              "anyOf": [
                {
                  "type": "object",
                  "required": [
                    "kind",
                    "code",
                    "message"
                  ],
                  "properties": {
                    "kind": {
                      "type": "string",
                      "description": "`permanent`: the server will never take this mail. `temporary`: it may, later."
                    },
                    "code": {
                      "type": "string"
                    },
                    "reply": {
                      "type": "integer",
                      "description": "The SMTP reply code."
                    },
                    "status": {
                      "type": "string",
                      "description": "The enhanced status code (RFC 3463), such as `5.1.1`."
                    },
                    "message": {
                      "type": "string"
                    }
                  },
                  "title": "MailFailure"
                },
                {
                  "type": "null"
                }
              ],
              "description": "Why it failed or is unknown, where that is known."
            },
            "createdAt": {
              "type": "string",
              "format": "date-time"
            },
            "updatedAt": {
              "type": "string",
              "format": "date-time"
            }
          },
          "title": "MailRecord"
        }
      }
    }
  },
  "resendMail": {
    "method": "POST",
    "path": "/api/v1/mail/records/{id}/resend",
    "pathParameters": {
      "type": "object",
      "required": [
        "id"
      ],
      "properties": {
        "id": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data"
      ],
      "properties": {
        "data": {
          "type": "object",
          "required": [
            "status",
            "data"
          ],
          "properties": {
            "status": {
              "type": "boolean"
            },
            "data": {
              "type": "string",
              "description": "A confirmation; it names the recipients that the server refused."
            }
          }
        }
      }
    }
  },
  "previewEmail": {
    "method": "POST",
    "path": "/api/v1/mail/preview",
    "body": {
      "type": "object",
      "required": [
        "emailTemplateType",
        "templateData"
      ],
      "properties": {
        "emailTemplateType": {
          "type": "string",
          "enum": [
            "loginWithOTP",
            "resetPassword",
            "accountCreation",
            "appuserInvite",
            "suspiciousLoginAttempt"
          ]
        },
        "templateData": {
          "type": "object",
          "additionalProperties": true,
          "description": "Values of the template: `userName`, `companyName`, `otp`, `resetLink`, `inviteLink` and others; see the README."
        },
        "productName": {
          "type": "string",
          "maxLength": 200,
          "description": "The brand in the template."
        }
      },
      "additionalProperties": false,
      "title": "PreviewBody"
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "html",
        "text"
      ],
      "properties": {
        "html": {
          "type": "string"
        },
        "text": {
          "type": "string"
        }
      }
    }
  },
  "testSmtpConnection": {
    "method": "POST",
    "path": "/api/v1/mail/testConnection",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "ok",
        "server",
        "durationMs",
        "tls",
        "auth",
        "warnings",
        "problem"
      ],
      "properties": {
        "ok": {
          "type": "boolean"
        },
        "server": {
          "type": "string",
          "description": "host:port"
        },
        "durationMs": {
          "type": "integer"
        },
        "tls": {
          "anyOf": [
            {
              "type": "object",
              "required": [
                "protocol",
                "cipher"
              ],
              "properties": {
                "protocol": {
                  "type": "string"
                },
                "cipher": {
                  "type": "string"
                }
              }
            },
            {
              "type": "null"
            }
          ],
          "description": "Null: clear text, or no connection."
        },
        "auth": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "The mechanism that was used to log in."
        },
        "warnings": {
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "problem": {
          "anyOf": [
            {
              "type": "object",
              "required": [
                "code",
                "message",
                "advice"
              ],
              "properties": {
                "code": {
                  "type": "string"
                },
                "reply": {
                  "type": "integer"
                },
                "detail": {
                  "anyOf": [
                    {
                      "type": "string"
                    },
                    {
                      "type": "null"
                    }
                  ]
                },
                "message": {
                  "type": "string"
                },
                "advice": {
                  "type": "string"
                }
              }
            },
            {
              "type": "null"
            }
          ]
        }
      },
      "title": "ConnectionReport"
    }
  }
};

type MailOperationId =
  | 'sendEmail'
  | 'updateSmtpConfig'
  | 'listMailRecords'
  | 'eraseMailRecipient'
  | 'getMailRecord'
  | 'resendMail'
  | 'previewEmail'
  | 'testSmtpConnection';
