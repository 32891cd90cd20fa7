import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.minio.admin.MinioAdminClient;
import io.minio.admin.QuotaUnit;
import io.minio.admin.Status;
import io.minio.admin.UserInfo;
import java.lang.reflect.Method;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import okhttp3.OkHttpClient;

/**
 * Makes each call of minio-java's MinioAdminClient, in an order in which each has something to act on, and prints what came of them as JSON: the
 * call, "done" or the code of the refusal, the answer as the client read it, and the requests.
 */
public class MinioAdminCalls {
  private static final Pattern CODE = Pattern.compile("\"Code\"\\s*:\\s*\"(\\w+)\"");
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .registerModule(new JavaTimeModule())
          .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
          .setVisibility(PropertyAccessor.ALL, Visibility.NONE)
          .setVisibility(PropertyAccessor.FIELD, Visibility.ANY);
  private static final List<String> requests = new ArrayList<>();
  private static final List<Map<String, Object>> results = new ArrayList<>();
  private static MinioAdminClient admin;

  private interface Call {
    Object make() throws Exception;
  }

  private interface Change {
    void make() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    JsonNode job = JSON.readTree(System.in);
    String accessKey = job.get("accessKey").asText();
    OkHttpClient http =
        new OkHttpClient.Builder()
            .callTimeout(60, TimeUnit.SECONDS)
            .addInterceptor(
                chain -> {
                  requests.add(chain.request().method() + " " + chain.request().url().encodedPath());
                  return chain.proceed(chain.request());
                })
            .build();
    admin =
        MinioAdminClient.builder()
            .endpoint("http://" + job.get("address").asText())
            .credentials(accessKey, job.get("secretKey").asText())
            .httpClient(http)
            .build();
    String reader =
        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[\"s3:GetObject\"],\"Resource\":[\"arn:aws:s3:::madmin/*\"]}]}";
    Map<String, Object> policy = JSON.convertValue(JSON.readTree(reader), Map.class);
    ZonedDateTime expires = ZonedDateTime.now().plusDays(1);

    change("addUser", () -> admin.addUser("java", UserInfo.Status.ENABLED, "java-secret-key", null, null));
    call("getUserInfo", () -> admin.getUserInfo("java"));
    call("getUserInfo of nobody", () -> admin.getUserInfo("nobody"));
    call("listUsers", () -> admin.listUsers());
    change("addUpdateGroup", () -> admin.addUpdateGroup("beans", Status.ENABLED, List.of("java")));
    call("getGroupInfo", () -> admin.getGroupInfo("beans"));
    call("getGroupInfo of none", () -> admin.getGroupInfo("none"));
    call("listGroups", () -> admin.listGroups());
    change("addCannedPolicy", () -> admin.addCannedPolicy("java-reader", reader));
    change("setPolicy", () -> admin.setPolicy("java", false, "java-reader"));
    change("setPolicy to a group", () -> admin.setPolicy("beans", true, "java-reader"));
    call("getUserInfo with a policy", () -> admin.getUserInfo("java"));
    call("listCannedPolicies", () -> admin.listCannedPolicies());
    change("setBucketQuota", () -> admin.setBucketQuota("madmin", 1, QuotaUnit.GB));
    call("getBucketQuota", () -> admin.getBucketQuota("madmin"));
    change("clearBucketQuota", () -> admin.clearBucketQuota("madmin"));
    call("getBucketQuota of none", () -> admin.getBucketQuota("madmin"));
    call("getDataUsageInfo", () -> admin.getDataUsageInfo());
    call("getServerInfo", () -> admin.getServerInfo());
    call("addServiceAccount", () -> admin.addServiceAccount("java-access-key", "java-secret-key", null, policy, "made", "by Java", expires));
    call("addServiceAccount of a user", () -> admin.addServiceAccount("java-other-key", "java-secret-key", "java", null, null, null, null));
    call("getServiceAccountInfo", () -> admin.getServiceAccountInfo("java-access-key"));
    change(
        "updateServiceAccount",
        () -> admin.updateServiceAccount("java-access-key", "java-other-secret", policy, false, "changed", "by Java again", expires));
    call("getServiceAccountInfo with changes", () -> admin.getServiceAccountInfo("java-access-key"));
    call("listServiceAccount", () -> admin.listServiceAccount("java"));
    change("deleteServiceAccount", () -> admin.deleteServiceAccount("java-access-key"));
    call("getServiceAccountInfo of none", () -> admin.getServiceAccountInfo("java-access-key"));
    change("addUpdateGroup with nobody", () -> admin.addUpdateGroup("beans", Status.DISABLED, List.of()));
    change("removeGroup of members", () -> admin.removeGroup("beans"));
    change("removeCannedPolicy", () -> admin.removeCannedPolicy("java-reader"));
    change("deleteUser", () -> admin.deleteUser("java"));

    Map<String, Object> output = new LinkedHashMap<>();
    output.put("methods", methods());
    output.put("results", results);
    System.out.println(JSON.writeValueAsString(output));
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
  }

  /** What the client offers, so that a test sees a method without a call. */
  private static List<String> methods() {
    return Arrays.stream(MinioAdminClient.class.getDeclaredMethods())
        .filter(method -> java.lang.reflect.Modifier.isPublic(method.getModifiers()))
        .map(Method::getName)
        .distinct()
        .sorted()
        .toList();
  }

  private static void change(String name, Change change) {
    call(
        name,
        () -> {
          change.make();
          return null;
        });
  }

  private static void call(String name, Call call) {
    requests.clear();
    Object answer = null;
    String end = "done";
    try {
      answer = JSON.valueToTree(call.make());
    } catch (Exception error) {
      Matcher code = CODE.matcher(String.valueOf(error.getMessage()));
      end = code.find() ? code.group(1) : "error: " + error;
    }
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("call", name);
    result.put("end", end);
    result.put("answer", answer);
    result.put("requests", List.copyOf(requests));
    results.add(result);
  }
}
