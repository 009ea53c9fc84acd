/* Runs one Vulkan compute shader, and writes its output buffer to stdout:
 *
 *     compute SHADER.spv GROUPS INVOCATIONS [SUBGROUP_SIZE]
 *
 * Binding 0 is a buffer of INVOCATIONS numbers from 0 to 4095, binding 1 one of 16 times as many zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define CHECK(call)                                                         \
    do {                                                                    \
        VkResult result_ = (call);                                          \
        if (result_ != VK_SUCCESS) {                                        \
            fprintf(stderr, "line %d: result %d\n", __LINE__, result_);     \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

static VkPhysicalDevice gpu;
static VkDevice device;

static void open_device(VkQueue *queue)
{
    VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo of_instance = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkInstance instance;
    CHECK(vkCreateInstance(&of_instance, NULL, &instance));
    uint32_t one = 1;
    vkEnumeratePhysicalDevices(instance, &one, &gpu);
    if (one == 0) {
        fprintf(stderr, "no Vulkan device\n");
        exit(1);
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu, &properties);
    fprintf(stderr, "%s\n", properties.deviceName);
    float priority = 1;
    VkDeviceQueueCreateInfo of_queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                        .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                                 .subgroupSizeControl = VK_TRUE};
    VkDeviceCreateInfo of_device = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features, .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &of_queue};
    CHECK(vkCreateDevice(gpu, &of_device, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, queue);
}

/* A storage buffer in memory that the host sees. */
static VkBuffer buffer(VkDeviceSize size, void **mapped)
{
    VkBufferCreateInfo of_buffer = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size,
                                    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &of_buffer, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu, &memory);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount
           && (!(needs.memoryTypeBits >> type & 1) || (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    VkMemoryAllocateInfo of_memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
                                      .memoryTypeIndex = type};
    VkDeviceMemory bytes;
    CHECK(vkAllocateMemory(device, &of_memory, NULL, &bytes));
    CHECK(vkBindBufferMemory(device, buffer, bytes, 0));
    CHECK(vkMapMemory(device, bytes, 0, VK_WHOLE_SIZE, 0, mapped));
    return buffer;
}

static VkPipeline pipeline(const char *path, VkPipelineLayout layout, uint32_t subgroup)
{
    static uint32_t code[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    VkShaderModuleCreateInfo of_module = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;
    CHECK(vkCreateShaderModule(device, &of_module, NULL, &module));
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, .requiredSubgroupSize = subgroup};
    VkComputePipelineCreateInfo of_pipeline = {
        VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, subgroup ? &required : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main"},
        .layout = layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(device, NULL, 1, &of_pipeline, NULL, &pipeline));
    return pipeline;
}

int main(int count, char **words)
{
    if (count < 4) {
        fprintf(stderr, "usage: compute SHADER.spv GROUPS INVOCATIONS [SUBGROUP_SIZE]\n");
        return 2;
    }
    uint32_t groups = atoi(words[2]), invocations = atoi(words[3]), subgroup = count > 4 ? atoi(words[4]) : 0;
    VkQueue queue;
    open_device(&queue);
    uint32_t *in, *out;
    VkDescriptorBufferInfo buffers[2] = {{buffer(4 * invocations, (void **)&in), 0, VK_WHOLE_SIZE},
                                         {buffer(64 * invocations, (void **)&out), 0, VK_WHOLE_SIZE}};
    for (uint32_t i = 0; i < invocations; i++)
        in[i] = i * 2654435761u >> 20;
    memset(out, 0, 64 * invocations);

    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t i = 0; i < 2; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo of_set_layout = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                     .bindingCount = 2, .pBindings = bindings};
    VkDescriptorSetLayout set_layout;
    CHECK(vkCreateDescriptorSetLayout(device, &of_set_layout, NULL, &set_layout));
    VkPipelineLayoutCreateInfo of_layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                            .pSetLayouts = &set_layout};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &of_layout, NULL, &layout));
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo of_pool = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
                                          .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    CHECK(vkCreateDescriptorPool(device, &of_pool, NULL, &pool));
    VkDescriptorSetAllocateInfo of_set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, NULL, pool, 1, &set_layout};
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(device, &of_set, &set));
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .descriptorCount = 2,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = buffers};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);

    VkCommandPoolCreateInfo of_commands = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool commands_pool;
    CHECK(vkCreateCommandPool(device, &of_commands, NULL, &commands_pool));
    VkCommandBufferAllocateInfo of_buffer = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = commands_pool,
                                             .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &of_buffer, &commands));
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline(words[1], layout, subgroup));
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, groups, 1, 1);
    CHECK(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(queue, 1, &submit, NULL));
    CHECK(vkQueueWaitIdle(queue));
    fwrite(out, 64, invocations, stdout);
    return 0;
}
